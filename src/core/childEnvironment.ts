/** Splits a list of variable names; a name that ends in `*` stands for every name with that prefix. */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Variables that a program needs to start at all: where commands, libraries and folders are, and the language. */
const SYSTEM = names(`
  PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP XDG_*
  LANG LANGUAGE LC_* LOCALE_ARCHIVE* TZ TZDIR
  LD_* DYLD_* NIX_*
  PATHEXT COMSPEC OS SYSTEMROOT SYSTEMDRIVE WINDIR USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH
  APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* NUMBER_OF_PROCESSORS PROCESSOR_*
`);

/** Further variables that a program needs, by what it does. */
const NEEDS = {
  /** The program computes on a CPU or GPU. */
  computing: names(`
    CUDA* CUDNN* CUBLAS* NVIDIA* HIP* HSA_* ROC* AMD_* MIOPEN_* GPU_* ZE_* ONEAPI_* SYCL_* VK_* MESA_* DRI_PRIME
    OMP_* GOMP_* KMP_* MKL_* OPENBLAS_* BLIS_* VECLIB_* NUMEXPR_* MALLOC_* ORT_*
  `),
  /** The program connects to servers. */
  network: names(`
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
  `),
  /** The program is a Python, or a script that chooses one. */
  python: names(`PYTHON* PYENV_* ASDF_* MISE_* CONDA_* VIRTUAL_ENV`),
  /** The program trains and downloads base models from the hub, which may ask for a token. */
  training: names(`
    TORCH* PYTORCH* TRITON_* INDUCTOR_* NCCL_* GLOO_* TP_* ACCELERATE_* BITSANDBYTES_* BNB_* CC CXX
    HF_* HUGGINGFACE_* HUGGING_FACE_* TRANSFORMERS_* TOKENIZERS_* SAFETENSORS_* DO_NOT_TRACK DISABLE_TELEMETRY
    HF_TOKEN HUGGING_FACE_HUB_TOKEN MASTER_ADDR MASTER_PORT SLURM_*
  `),
  /** The program installs packages; the package index may ask for a name and a password. */
  installing: names(`PIP_* UV_* NETRC DBUS_SESSION_BUS_ADDRESS`),
};

export type EnvironmentNeed = keyof typeof NEEDS;

/** Matches names that look like credentials; such a variable is passed on only if its whole name is listed. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/;

/** Matches the installers' variables for package indexes, where the user chooses the end of the name. */
const OF_INDEXES = /^(PIP|UV_INDEX)_/;

/**
 * Returns the environment of a child process: only the variables that it needs. This is a list of what is allowed, not
 * of what is removed, because nobody knows every name under which people keep keys, and `--key-env` takes any.
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
