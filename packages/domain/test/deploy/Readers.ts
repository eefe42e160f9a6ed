import { spawn } from "node:child_process"
import { accessSync, constants, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { buffer } from "node:stream/consumers"

/** Who reads files of environment variables: programs that are there, and what the sources of others say. */

export type Values = ReadonlyMap<string, string>

/** Reads the values of some names from the text of a file. */
export type Reader = (text: string, names: ReadonlyArray<string>) => Promise<Values>

const onPath = (command: string): ReadonlyArray<string> =>
  (process.env["PATH"] ?? "").split(delimiter).flatMap((directory) => {
    const file = join(directory, command)
    try {
      accessSync(file, constants.X_OK)
      return [file]
    } catch {
      return []
    }
  })

/** Runs a program with nothing in its environment, on a file with this text. Answers what it prints. */
const run = async (
  text: string,
  program: string,
  argumentsFor: (file: string) => ReadonlyArray<string>
): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-env-"))
  try {
    const file = join(directory, "secrets.env")
    writeFileSync(file, text)
    // A shell whose standard input is a socket takes itself for one that somebody logged in to.
    const child = spawn(program, argumentsFor(file), { env: {}, stdio: ["ignore", "pipe", "pipe"] })
    const [output, errors] = await Promise.all([buffer(child.stdout), buffer(child.stderr)])
    if (errors.length > 0) throw new Error(errors.toString())
    return output.toString()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Sources the file, and has the shell print each variable, then a program that it starts. */
const shell =
  (program: string, options: ReadonlyArray<string> = []): Reader =>
  async (text, names) => {
    const printed = names.map((name) => `printf '%s\\0' "$${name}"`).join("\n")
    const environment = `JSON.stringify(process.env)`
    const script = `set -a\n. "$1"\nset +a\n${printed}\nexec "$2" -p '${environment}'`
    const output = await run(text, program, (file) => [...options, "-c", script, "sh", file, process.execPath])
    const parts = output.split("\0")
    const inherited = JSON.parse(parts[names.length]!) as Record<string, string>
    for (const [index, name] of names.entries()) {
      if (inherited[name] !== parts[index]) throw new Error(`${program} gives its children another ${name}.`)
    }
    return new Map(names.map((name, index) => [name, parts[index]!]))
  }

const nodeProgram =
  (program: string): Reader =>
  async (text, names) => {
    const output = await run(text, program, (file) => [`--env-file=${file}`, "-p", "JSON.stringify(process.env)"])
    const environment = JSON.parse(output) as Record<string, string>
    return new Map(names.map((name) => [name, environment[name]!]))
  }

/** Each program once, by where it really is. */
const programs = (command: string): ReadonlyArray<string> => [
  ...new Map(onPath(command).map((file) => [realpathSync(file), file])).values()
]

/** The shells of this machine. */
export const shells: ReadonlyArray<readonly [string, Reader]> = [
  ...["sh", "dash", "bash", "ksh", "zsh", "busybox"].flatMap((command) =>
    programs(command).map((file) =>
      command === "busybox" ? ([`${file} sh`, shell(file, ["sh"])] as const) : ([file, shell(file)] as const)
    )
  ),
  ...programs("bash").map((file) => [`${file} --posix`, shell(file, ["--posix"])] as const)
]

/** The Node that runs the tests, and those that the machine has beside it. */
export const nodes: ReadonlyArray<readonly [string, Reader]> = [
  ...new Set([realpathSync(process.execPath), ...programs("node").map((file) => realpathSync(file))])
].map((file) => [file, nodeProgram(file)] as const)

/**
 * Compose, as far as it reads quoted values: the parser of compose-go (dotenv/parser.go and godotenv.go of v2). A quote ends
 * where no backslash stands before it, which the backslash before may itself take away. Escapes and variables count
 * between double quotes alone.
 */
export const compose: Reader = async (text) => {
  const values = new Map<string, string>()
  let rest = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  for (;;) {
    rest = rest.replace(/^[\s\u0085\u00A0]*/, "")
    if (rest === "") return values
    const name = /^[\p{L}\p{N}_.[\]-]+(?==)/u.exec(rest)?.[0]
    if (name === undefined) throw new Error("unexpected character in variable name")
    rest = rest.slice(name.length + 1).replace(/^[\t\v\f\r \u0085\u00A0]+/, "")
    const quote = rest[0]
    if (quote !== "'" && quote !== '"') throw new Error("The value has no quotes.")
    let [value, at, isEscaped] = ["", 1, false]
    for (; at < rest.length; at++) {
      const character = rest[at]!
      if (isEscaped) {
        value += character === quote ? character : `\\${character}`
        isEscaped = false
      } else if (character === "\\") isEscaped = true
      else if (character === quote) break
      else value += character
    }
    if (at >= rest.length) throw new Error("unterminated quoted value")
    if (quote === '"' && /[\\$]/.test(value)) throw new Error("Compose would make another value of it.")
    values.set(name, value)
    rest = rest.slice(at + 1)
  }
}

/**
 * `docker run --env-file`, as its documentation and source say (docker/cli, pkg/kvfile/kvfile.go of v28): lines of at most
 * `bufio.MaxScanTokenSize` bytes, of which Go's scanner drops a carriage return at the end; blanks before a name, empty lines
 * and lines that begin with `#` are left out; the name goes to the first `=`; nothing is quoted.
 */
export const docker: Reader = async (text) => {
  const values = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    if (Buffer.byteLength(line) + 1 > 65_536) throw new Error("bufio.Scanner: token too long")
    const variable = line.replace(/\r$/, "").trimStart()
    if (variable === "" || variable.startsWith("#")) continue
    const at = variable.indexOf("=")
    const name = at === -1 ? variable : variable.slice(0, at)
    if (name === "") throw new Error("no variable name")
    if (/[ \t]/.test(name)) throw new Error("variable contains whitespaces")
    if (at !== -1) values.set(name, variable.slice(at + 1))
  }
  return values
}

/** The client of Docker, where the machine has one: what it tells a server that stands in for Docker's. */
export const dockerClients: ReadonlyArray<readonly [string, Reader]> = programs("docker").map((file) => [
  file,
  async (text) => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-docker-"))
    let told: ReadonlyArray<string> | undefined
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const isCreate = request.url!.includes("/containers/create")
        if (isCreate) told = (JSON.parse(Buffer.concat(chunks).toString()) as { Env: ReadonlyArray<string> }).Env
        response.writeHead(isCreate ? 500 : 200, { "content-type": "application/json", "api-version": "1.44" })
        response.end(isCreate ? '{"message": "That was all."}' : "{}")
      })
    })
    try {
      const socket = join(directory, "docker.sock")
      const env = join(directory, "secrets.env")
      writeFileSync(env, text)
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      const client = spawn(file, ["run", "--env-file", env, "image"], {
        env: { DOCKER_HOST: `unix://${socket}`, HOME: directory },
        stdio: ["ignore", "ignore", "pipe"]
      })
      let said = ""
      client.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
      await new Promise((resolve) => client.on("close", resolve))
      if (told === undefined) throw new Error(said)
      return new Map(told.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]))
    } finally {
      server.close()
      rmSync(directory, { recursive: true })
    }
  }
])
