import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { Settings } from "../../src/Config.ts"
import { CommandSeconds } from "../../src/keys/GivenKeys.ts"
import { Keyring } from "../../src/keys/Keyring.ts"
import { eventually } from "../support/Http.ts"

/** Vault keys from a file and from a command. */

const directory = mkdtempSync(join(tmpdir(), "delivery-keys-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`
const [k1, k2] = [key("k1"), key("k2")]
/** What nothing that is printed may have in it. */
const secrets = [k1.slice(3, -1), k2.slice(3, -1), "hunter2"]

/** The ids of the keys, or the message of the refusal, and what was logged. */
const idsOf = (environment: Record<string, string>, seconds = 30) => {
  const lines: Array<string> = []
  return Effect.map(Keyring, ({ ids }) => ids).pipe(
    Effect.provide(
      Keyring.layer.pipe(
        Layer.provide([Settings.layer(environment), NodeServices.layer]),
        Layer.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]))
      ),
      { local: true }
    ),
    Effect.provideService(CommandSeconds, seconds),
    Effect.catch((error) => {
      assert.strictEqual(error._tag, "SettingsError")
      return Effect.succeed(error.message)
    }),
    Effect.map((found) => {
      for (const secret of secrets) assert.notInclude(`${String(found)}${lines.join()}`, secret)
      return { found, lines }
    })
  )
}

const file = (name: string, text: string, mode = 0o600) => {
  const path = join(directory, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const refused = (environment: Record<string, string>, expected: RegExp, seconds?: number) =>
  Effect.map(idsOf(environment, seconds), ({ found }) => {
    assert.match(String(found), expected)
    assert.notInclude(String(found), "\n")
  })

describe("VAULT_KEYS_FILE", () => {
  it.live("is read at the start, with or without a line break at its end", () =>
    Effect.gen(function* () {
      for (const text of [`${k1},${k2}`, `${k1},${k2}\n`, `${k1},\n${k2}\r\n`]) {
        assert.deepStrictEqual(yield* idsOf({ VAULT_KEYS_FILE: file("keys", text) }), {
          found: ["k1", "k2"],
          lines: []
        })
      }
      symlinkSync(file("target", `${k2}\n`), join(directory, "link"))
      assert.deepStrictEqual((yield* idsOf({ VAULT_KEYS_FILE: join(directory, "link") })).found, ["k2"])
      // What it has later counts from the next start on.
      writeFileSync(join(directory, "target"), `${k1},${k2}`)
      assert.deepStrictEqual((yield* idsOf({ VAULT_KEYS_FILE: join(directory, "link") })).found, ["k1", "k2"])
    })
  )

  it.live("is warned of where every user may read it", () =>
    Effect.gen(function* () {
      for (const [mode, warns] of [
        [0o644, true],
        [0o602, true],
        [0o640, false],
        [0o400, false]
      ] as const) {
        const path = file(`mode-${mode}`, k1, mode)
        const { found, lines } = yield* idsOf({ VAULT_KEYS_FILE: path })
        assert.deepStrictEqual(found, ["k1"])
        assert.deepStrictEqual(
          lines,
          warns
            ? [
                `VAULT_KEYS_FILE: every user of this machine may read or write ${path}. Take that right away: chmod o= ${path}`
              ]
            : []
        )
      }
    })
  )

  it.live("is refused in one line where it is missing, empty, too long or has no keys", () =>
    Effect.gen(function* () {
      const missing = join(directory, "missing")
      yield* refused({ VAULT_KEYS_FILE: missing }, /^VAULT_KEYS_FILE: \S+missing cannot be read \(NotFound\)\./)
      yield* refused({ VAULT_KEYS_FILE: directory }, /^VAULT_KEYS_FILE: \S+ cannot be read \(\w+\)\./)
      yield* refused({ VAULT_KEYS_FILE: file("empty", " \n") }, /^VAULT_KEYS_FILE is empty: expected /)
      for (const text of ["hunter2", `${k1},`, `${k1},${k1}`, `${k1}\n${k2}`]) {
        yield* refused({ VAULT_KEYS_FILE: file("wrong", text) }, /^VAULT_KEYS_FILE is invalid: expected /)
      }
      yield* refused({ VAULT_KEYS_FILE: "/dev/zero" }, /^VAULT_KEYS_FILE has more than 65536 bytes: expected /)
    })
  )
})

describe("VAULT_KEYS_COMMAND", () => {
  it.live("is a line of the shell whose output are the keys", () =>
    Effect.gen(function* () {
      const wrapped = file("wrapped", Buffer.from(`${k1},${k2}\n`).toString("base64"))
      const VAULT_KEYS_COMMAND = `echo hunter2 >&2; base64 -d < '${wrapped}' | cat`
      assert.deepStrictEqual(yield* idsOf({ VAULT_KEYS_COMMAND }), { found: ["k1", "k2"], lines: [] })
    })
  )

  it.live("is refused in one line where it fails, and nothing is told of what it printed", () =>
    Effect.gen(function* () {
      const print = `printf %s '${k1}'`
      const cases: ReadonlyArray<readonly [command: string, message: RegExp]> = [
        [
          `${print}; echo hunter2 >&2; exit 3`,
          /^VAULT_KEYS_COMMAND failed: it ended with exit code 3\. What it prints/
        ],
        ["not-a-command-of-anybody hunter2", /^VAULT_KEYS_COMMAND failed: it ended with exit code 127\. /],
        [`${print}; kill -9 $$`, /^VAULT_KEYS_COMMAND failed: /],
        ["echo", /^The output of VAULT_KEYS_COMMAND is empty: expected /],
        [`${print}; echo hunter2`, /^The output of VAULT_KEYS_COMMAND is invalid: expected /],
        ["cat /dev/zero", /^The output of VAULT_KEYS_COMMAND has more than 65536 bytes: expected /]
      ]
      for (const [VAULT_KEYS_COMMAND, message] of cases) yield* refused({ VAULT_KEYS_COMMAND }, message)
    })
  )

  it.live("is ended with all that it started where it takes too long", () =>
    Effect.gen(function* () {
      const pid = join(directory, "pid")
      const VAULT_KEYS_COMMAND = `trap '' TERM; sleep 1000 & echo $! > ${pid}; echo '${k1}'; wait`
      yield* refused({ VAULT_KEYS_COMMAND }, /^VAULT_KEYS_COMMAND failed: it had not ended after 2 s\. /, 2)
      const started = Number(readFileSync(pid, "utf8"))
      yield* Effect.promise(() =>
        eventually(
          async () =>
            existsSync(`/proc/${started}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${started}/status`, "utf8")),
          (isRunning) => !isRunning
        )
      )
    })
  )
})
