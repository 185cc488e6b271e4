import { wordsIn } from './text';

/**
 * Needed to start at all: places of commands, libraries and folders, and the language. A name that ends in `*` stands for
 * every name with that prefix.
 */
const SYSTEM = wordsIn(`
  PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP XDG_*
  LANG LANGUAGE LC_* LOCALE_ARCHIVE* TZ TZDIR
  LD_* DYLD_* NIX_*
  PATHEXT COMSPEC OS SYSTEMROOT SYSTEMDRIVE WINDIR USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH
  APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* NUMBER_OF_PROCESSORS PROCESSOR_*
`);

const NEEDS = {
  computing: wordsIn(`
    CUDA* CUDNN* CUBLAS* NVIDIA* HIP* HSA_* ROC* AMD_* MIOPEN_* GPU_* ZE_* ONEAPI_* SYCL_* VK_* MESA_* DRI_PRIME
    OMP_* GOMP_* KMP_* MKL_* OPENBLAS_* BLIS_* VECLIB_* NUMEXPR_* MALLOC_* ORT_*
  `),
  network: wordsIn(`
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
  `),
  /** Also a script that chooses a Python. */
  python: wordsIn(`PYTHON* PYENV_* ASDF_* MISE_* CONDA_* VIRTUAL_ENV`),
  /** Base models come from the hub, which may require a token. */
  training: wordsIn(`
    TORCH* PYTORCH* TRITON_* INDUCTOR_* NCCL_* GLOO_* TP_* ACCELERATE_* BITSANDBYTES_* BNB_* CC CXX
    HF_* HUGGINGFACE_* HUGGING_FACE_* TRANSFORMERS_* TOKENIZERS_* SAFETENSORS_* DO_NOT_TRACK DISABLE_TELEMETRY
    HF_TOKEN HUGGING_FACE_HUB_TOKEN MASTER_ADDR MASTER_PORT SLURM_*
  `),
  /** The package index may require a name and a password. */
  installing: wordsIn(`PIP_* UV_* NETRC DBUS_SESSION_BUS_ADDRESS`),
};

export type EnvironmentNeed = keyof typeof NEEDS;

/** A variable that looks like a credential is passed on only if its whole name is listed. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/;

/** The user chooses the end of these names of package indexes. */
const OF_INDEXES = /^(PIP|UV_INDEX)_/;

/**
 * Only the variables that a child process needs. This is a list of allowed, not of removed variables, because keys are
 * stored under any name, and `--key-env` takes any.
 */
export function childEnvironment(...needs: readonly EnvironmentNeed[]): NodeJS.ProcessEnv {
  const listed = [...SYSTEM, ...needs.flatMap((need) => NEEDS[need])];
  const families = listed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const goesAlong = (name: string): boolean => {
    if (listed.includes(name)) return true;
    if (SECRET.test(name) && !OF_INDEXES.test(name)) return false;
    return families.some((family) => name.startsWith(family));
  };
  // The names of proxy variables are often in lower case, and Windows writes `Path`.
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => goesAlong(name.toUpperCase())));
}
