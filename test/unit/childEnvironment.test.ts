import { afterEach, expect, it, vi } from 'vitest';
import { childEnvironment, type EnvironmentNeed } from '../../src/core/childEnvironment';

afterEach(() => vi.unstubAllEnvs());

const has = (name: string, ...needs: readonly EnvironmentNeed[]): boolean =>
  name in childEnvironment(...needs);

it.each<[string, readonly EnvironmentNeed[]]>([
  ['PATH', []],
  ['SystemRoot', []],
  ['CUDA_VISIBLE_DEVICES', ['computing']],
  ['https_proxy', ['network']],
  ['SSL_CERT_FILE', ['network']],
  ['PYENV_ROOT', ['python']],
  ['HF_HOME', ['training']],
  ['HF_TOKEN', ['training']],
  ['PIP_INDEX_URL', ['installing']],
  ['UV_INDEX_LAB_PASSWORD', ['installing']],
])('%s goes to a child that needs it (%j)', (name, needs) => {
  vi.stubEnv(name, 'given');
  expect(childEnvironment(...needs)).toHaveProperty(name, 'given');
});

it.each([
  ...['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'LAB_LOGIN'],
  // Other variables of these families are passed on.
  ...['TORCH_HUB_TOKEN', 'HF_INFERENCE_API_KEY', 'CONDA_TOKEN', 'UV_PUBLISH_TOKEN', 'SLURM_JWT_SECRET'],
])('%s goes to no child', (name) => {
  vi.stubEnv(name, 'secret');
  expect(has(name, 'computing', 'network', 'python', 'training', 'installing')).toBe(false);
});

it('the token of the hub goes to training alone', () => {
  vi.stubEnv('HF_TOKEN', 'secret');
  expect(has('HF_TOKEN', 'computing', 'network', 'python', 'installing')).toBe(false);
});
