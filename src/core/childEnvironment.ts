/** Names of variables; one that ends in `*` stands for all that begin so. */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Variables that a program needs to start at all: where commands, libraries and folders are, and the language. */
const SYSTEM = names(`
  PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP XDG_*
  LANG LANGUAGE LC_* LOCALE_ARCHIVE* TZ TZDIR
  LD_* DYLD_* NIX_*
  PATHEXT COMSPEC OS SYSTEMROOT SYSTEMDRIVE WINDIR USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH
  APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* NUMBER_OF_PROCESSORS PROCESSOR_*
`);

/** Variables that a program may need besides, by what it does. */
const NEEDS = {
  /** It computes, on a processor or a graphics card. */
  computing: names(`
    CUDA* CUDNN* CUBLAS* NVIDIA* HIP* HSA_* ROC* AMD_* MIOPEN_* GPU_* ZE_* ONEAPI_* SYCL_* VK_* MESA_* DRI_PRIME
    OMP_* GOMP_* KMP_* MKL_* OPENBLAS_* BLIS_* VECLIB_* NUMEXPR_* MALLOC_* ORT_*
  `),
  /** It reaches servers on the network. */
  network: names(`
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
  `),
  /** It is a Python, or a script that chooses one. */
  python: names(`PYTHON* PYENV_* ASDF_* MISE_* CONDA_* VIRTUAL_ENV`),
  /** It trains, and loads a base model from the hub, which may ask who wants it. */
  training: names(`
    TORCH* PYTORCH* TRITON_* INDUCTOR_* NCCL_* GLOO_* TP_* ACCELERATE_* BITSANDBYTES_* BNB_* CC CXX
    HF_* HUGGINGFACE_* HUGGING_FACE_* TRANSFORMERS_* TOKENIZERS_* SAFETENSORS_* DO_NOT_TRACK DISABLE_TELEMETRY
    HF_TOKEN HUGGING_FACE_HUB_TOKEN MASTER_ADDR MASTER_PORT SLURM_*
  `),
  /** It installs packages, from an index that may ask for a name and a password. */
  installing: names(`PIP_* UV_* NETRC DBUS_SESSION_BUS_ADDRESS`),
};

export type Need = keyof typeof NEEDS;

/** Ends of names of credentials. Such a variable goes along only where its whole name is listed. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/;

/** Beginnings of variables in which installers look for the credentials of indexes; a person chooses their ends. */
const OF_INDEXES = /^(PIP|UV_INDEX)_/;

/**
 * The environment of a child process: what it needs of this process's own, and nothing else. It lists what goes along
 * and not what stays, because nobody knows all names under which people keep keys, and `--key-env` takes any.
 */
export function childEnvironment(...needs: readonly Need[]): NodeJS.ProcessEnv {
  const listed = [...SYSTEM, ...needs.flatMap((need) => NEEDS[need])];
  const families = listed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const goesAlong = (name: string): boolean => {
    if (listed.includes(name)) return true;
    if (SECRET.test(name) && !OF_INDEXES.test(name)) return false;
    return families.some((family) => name.startsWith(family));
  };
  // Proxies are often written in small letters, and Windows writes `Path`.
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => goesAlong(name.toUpperCase())));
}
