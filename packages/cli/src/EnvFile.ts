/** Values as a file that `sh`, Compose and Node's `--env-file` read alike. */

/** Whether shells can have a variable of this name. */
export const isShellName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** The value in quotes; undefined if no quotes make all readers give it back to the byte. */
const quoted = (value: string): string | undefined => {
  // Node drops carriage returns, and no environment has a NUL.
  if (/[\r\0]/.test(value)) return undefined
  if (!value.includes("'")) return `'${value}'`
  return /["$`\\]/.test(value) ? undefined : `"${value}"`
}

/** The file, or the names that it cannot have. */
export const envFile = (
  values: ReadonlyMap<string, string>
): { readonly text: string } | { readonly names: ReadonlyArray<string> } => {
  const lines = [...values].map(([name, value]) => {
    const text = isShellName(name) ? quoted(value) : undefined
    return { name, line: text === undefined ? undefined : `${name}=${text}\n` }
  })
  const names = lines.filter(({ line }) => line === undefined).map(({ name }) => name)
  return names.length > 0 ? { names } : { text: lines.map(({ line }) => line).join("") }
}
