// Variables that no secret may be injected as or taken from: they say how a process starts, what it
// loads, whom it trusts or who it is. Taking one away, or setting it, would change the server.

const NAMES: ReadonlySet<string> = new Set([
  // The process and its user.
  ...['PATH', 'PATHEXT', 'HOME', 'USERPROFILE', 'SHELL', 'COMSPEC', 'USER', 'LOGNAME', 'USERNAME'],
  ...['PWD', 'OLDPWD', 'TMPDIR', 'TMP', 'TEMP', 'TERM', 'LANG', 'LANGUAGE', 'TZ', 'SYSTEMROOT'],
  // Shells.
  ...['ENV', 'BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'IFS', 'CDPATH', 'PS4', 'PROMPT_COMMAND'],
  ...['ZDOTDIR', 'FPATH'],
  // Runtimes.
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED'],
  ...['NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS', 'NODE_DEBUG'],
  ...['ELECTRON_RUN_AS_NODE', 'NPM_CONFIG_NODE_OPTIONS', 'NPM_CONFIG_SCRIPT_SHELL'],
  ...['RUBYOPT', 'RUBYLIB', 'GEM_PATH', 'GEM_HOME', 'PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERLLIB'],
  ...['CLASSPATH', 'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'JAVA_HOME'],
  ...['DOTNET_STARTUP_HOOKS', 'COR_ENABLE_PROFILING', 'COR_PROFILER', 'COR_PROFILER_PATH'],
  ...['CORECLR_ENABLE_PROFILING', 'CORECLR_PROFILER', 'CORECLR_PROFILER_PATH', 'GODEBUG'],
  // The C library.
  ...['GCONV_PATH', 'LOCPATH', 'NLSPATH', 'GLIBC_TUNABLES', 'HOSTALIASES', 'RES_OPTIONS'],
  // Programs that others start, and whom they trust.
  ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'GIT_ASKPASS', 'GIT_EXTERNAL_DIFF'],
  ...['GIT_PAGER', 'GIT_EDITOR', 'GIT_PROXY_COMMAND', 'SSH_ASKPASS', 'SUDO_ASKPASS'],
  ...['EDITOR', 'VISUAL', 'PAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE', 'MANPAGER'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'OPENSSL_ENGINES'],
]);
const PREFIXES = ['SUB_', 'LD_', 'DYLD_', 'LC_', 'MALLOC_', 'BASH_FUNC_', 'GIT_CONFIG_'];
/** Python's own have no underscore behind the word, unlike a `PYTHON_TOKEN`. */
const PYTHON = /^PYTHON[A-Z]/;

/** In any case: some systems and some programs see no difference. */
export function isReservedName(name: string): boolean {
  const upper = name.toUpperCase();
  return (
    NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix)) || PYTHON.test(upper)
  );
}
