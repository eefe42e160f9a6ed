/**
 * Values as files of environment variables (docs/contract.md, Deployment tokens). Pure. What cannot be written so that every
 * reader has it back to the byte is refused, by its name.
 */

/** A file, or the names of what cannot be written in it. */
export type EnvironmentFile =
  | { readonly text: string; readonly refused?: never }
  | { readonly text?: never; readonly refused: ReadonlyArray<string> }

/** How one variable is written, on a line of its own or more; undefined where it cannot be. */
type Write = (name: string, value: string) => string | undefined

const fileOf = (values: ReadonlyMap<string, string>, write: Write): EnvironmentFile => {
  const lines = Array.from(values, ([name, value]) => ({ name, line: write(name, value) }))
  const refused = lines.filter(({ line }) => line === undefined).map(({ name }) => name)
  return refused.length > 0 ? { refused } : { text: lines.map(({ line }) => `${line}\n`).join("") }
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that a shell has for itself: it refuses what is assigned to them, ignores it, or makes another value of it. */
const shellVariables = new Set([
  "_",
  "DIRSTACK",
  "EPOCHREALTIME",
  "EPOCHSECONDS",
  "EUID",
  "FUNCNAME",
  "GROUPS",
  "HISTCMD",
  "LINENO",
  "OPTIND",
  "PIPESTATUS",
  "PPID",
  "RANDOM",
  "SECONDS",
  "SHELLOPTS",
  "SRANDOM",
  "UID"
])

/** Whether a shell keeps what is assigned to the variable. */
const isShellVariable = (name: string): boolean => shellVariables.has(name) || name.startsWith("BASH")

/**
 * A file that POSIX shells (`.`, `source`), Node's `--env-file` and Compose (`env_file`) read alike. Between single quotes all
 * of them take every character as it is, but Compose a backslash before the closing one. Between double quotes they do so
 * where there is no `"`, `\`, `$` or backquote. No reader but a shell can join the two. Node drops carriage returns.
 */
export const environmentFile = (values: ReadonlyMap<string, string>): EnvironmentFile =>
  fileOf(values, (name, value) => {
    const quoted = quote(value)
    return variableName.test(name) && !isShellVariable(name) && quoted !== undefined ? `${name}=${quoted}` : undefined
  })

const quote = (value: string): string | undefined => {
  if (/[\0\r]/.test(value)) return undefined
  if (!value.includes("'") && !value.endsWith("\\")) return `'${value}'`
  return /["\\$`]/.test(value) ? undefined : `"${value}"`
}

/** Docker reads lines with Go's `bufio.Scanner`, whose buffer has this many bytes, the end of the line included. */
const longestLine = 65_536

const utf8 = new TextEncoder()

/**
 * A file for `docker run --env-file`, which takes each line as it is: a name without blanks, up to the first `=`, and the
 * value, which is the rest. It drops a carriage return at the end of a line.
 */
export const dockerEnvironmentFile = (values: ReadonlyMap<string, string>): EnvironmentFile =>
  fileOf(values, (name, value) => {
    if (!/^[^#\s=][^ \t=]*$/.test(name) || /[\0\n]|\r$/.test(value)) return undefined
    const line = `${name}=${value}`
    return utf8.encode(line).length + 1 <= longestLine ? line : undefined
  })
