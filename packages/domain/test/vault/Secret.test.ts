import { chosenClasses, passwordClasses } from "@delivery/domain/vault/Generator"
import { CreateSecret, SecretName, SecretValue } from "@delivery/domain/vault/Secret"
import { maxValueBytes } from "@delivery/domain/vault/ValueSize"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"

const accepts = (schema: Schema.Codec<unknown, unknown>, input: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(schema)(input))

describe("secrets", () => {
  it("have names of printable characters, as they are sent", () => {
    for (const name of ["A", "DATABASE_URL", "a b", "a.b", "...", "ü", "🚀", "%2F", "__proto__", "x".repeat(255)]) {
      assert.isTrue(accepts(SecretName, name), name)
    }
    for (const name of ["", " a", "a ", "\u3000a", "a/b", "/", ".", "..", "a\tb", "\u007F", "a\u2028b", "\uDC00"]) {
      assert.isFalse(accepts(SecretName, name), JSON.stringify(name))
    }
    assert.isFalse(accepts(SecretName, "x".repeat(256)))
    // They would run code in the product.
    for (const name of [
      "NODE_OPTIONS",
      "node_options",
      "LD_PRELOAD",
      "LD_X",
      "DYLD_INSERT_LIBRARIES",
      "PATH",
      "BASH_ENV",
      "BASH_FUNC_node%%",
      "npm_config_node_options",
      "GIT_CONFIG_COUNT",
      "GIT_CONFIG_KEY_0",
      "PYTHONWARNINGS",
      "BROWSER",
      "LUA_INIT",
      "LUA_INIT_5_4",
      "ERL_AFLAGS",
      "BUN_OPTIONS",
      "CORECLR_PROFILER_PATH",
      "OPENSSL_CONF",
      "HOME",
      "SHELL",
      "JAVA_OPTS"
    ]) {
      assert.isFalse(accepts(SecretName, name), name)
    }
    for (const name of [
      "NODE_ENV",
      "PATH_OF_DATA",
      "OLD_PASSWORD",
      "GITHUB_TOKEN",
      "GIT_TOKEN",
      "NPM_TOKEN",
      "HOME_PAGE"
    ])
      assert.isTrue(accepts(SecretName, name), name)
  })

  it("have values of up to 64 KiB of UTF-8", () => {
    for (const part of ["a", "é", "€", "🚀", "\u0000"]) {
      const most = Math.floor(maxValueBytes / Buffer.byteLength(part))
      assert.isTrue(accepts(SecretValue, part.repeat(most)), part)
      assert.isFalse(accepts(SecretValue, part.repeat(most + 1)), part)
    }
    assert.isFalse(accepts(SecretValue, "a\uD800"))
  })

  it("are told what is wrong with them, where they are sent as well", () => {
    const values = (text: string) => ({ name: "A", values: { staging: Redacted.make(text) } })
    for (const [text, problem] of [
      ["a".repeat(maxValueBytes + 1), "Expected at most 65536 bytes of UTF-8"],
      ["canary\uD800", "Expected text without lone surrogates"]
    ] as const) {
      const sent = Schema.encodeResult(CreateSecret)(values(text))
      assert.isTrue(Result.isFailure(sent))
      const message = String(Result.isFailure(sent) ? sent.failure : "")
      assert.include(message, problem)
      assert.notInclude(message, "canary")
    }
  })

  it("never appear in errors about a body", () => {
    const canary = "canary-value"
    const body = Schema.decodeUnknownSync(CreateSecret)({ name: "A", values: { staging: canary, ci: null } })
    assert.notInclude(JSON.stringify(body) + String(body.values?.["staging"]), canary)
    assert.strictEqual(Redacted.value(body.values!["staging"]!), canary)
    assert.deepStrictEqual(Schema.encodeSync(CreateSecret)(body).values, { staging: canary, ci: null })
    for (const values of [{ staging: [canary] }, { staging: `${canary}\uD800` }, canary, { staging: { canary } }]) {
      const result = Schema.decodeUnknownResult(CreateSecret)({ name: "A", values, requestId: "r" })
      assert.isTrue(Result.isFailure(result))
      assert.notInclude(String(Result.isFailure(result) ? result.failure : ""), canary)
    }
  })

  it("have passwords of classes that share no character", () => {
    const all = Object.values(passwordClasses).join("")
    assert.strictEqual(new Set(all).size, all.length)
    const none = {
      type: "password",
      length: 8,
      lowercase: false,
      uppercase: false,
      digits: false,
      symbols: false
    } as const
    assert.deepStrictEqual(chosenClasses(none), [])
    assert.deepStrictEqual(chosenClasses({ ...none, digits: true }), ["0123456789"])
  })
})
