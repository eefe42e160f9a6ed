/**
 * Variables that change which code a process runs when it starts. Whoever may write a secret would run code in the product with
 * one, and read its other secrets (docs/contract.md, Vault).
 */
const names = new Set(
  `BASH_ENV BASHOPTS CLASSPATH DOTNET_STARTUP_HOOKS ENV GCONV_PATH GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND IFS JAVA_TOOL_OPTIONS
  JDK_JAVA_OPTIONS NODE_OPTIONS NODE_PATH PATH PERL5DB PERL5LIB PERL5OPT PERLLIB PHPRC PROMPT_COMMAND PS4 PYTHONHOME PYTHONPATH
  PYTHONSTARTUP RUBYLIB RUBYOPT SHELLOPTS _JAVA_OPTIONS`.split(/\s+/)
)

/** Whether a variable of this name changes which code a process runs. */
export const changesProcesses = (name: string): boolean => names.has(name.toUpperCase()) || /^(?:LD|DYLD)_/i.test(name)
