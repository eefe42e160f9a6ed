import type { EventId, PersonId, WebhookId, WorkspaceId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { NetAddress } from "effect/net"
import { connect as connectPlain } from "node:net"
import { connect } from "node:tls"
import { Settings } from "../../src/Config.ts"
import { isPrivateUrl, OutgoingNetwork } from "../../src/http/OutgoingRequests.ts"
import { DataKeys } from "../../src/vault/DataKeys.ts"
import { newSecret } from "../../src/webhooks/Signatures.ts"
import { Tries } from "../../src/webhooks/Tries.ts"

/** To which addresses webhooks send nothing, in whatever way they are named. */

const hostile: ReadonlyArray<string> = [
  "https://localhost/",
  "https://LOCALHOST./",
  "https://a.localhost/",
  "https://127.0.0.1/",
  "https://127.1/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://2130706433/",
  "https://0/",
  "https://127.0.0.1./",
  "https://%31%32%37.0.0.1/",
  "https://１２７.0.0.1/",
  "https://10.0.0.1/",
  "https://100.64.0.1/",
  "https://169.254.169.254/latest/meta-data",
  "https://172.16.0.1/",
  "https://192.168.1.1/",
  "https://198.18.0.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::]/",
  "https://[0:0:0:0:0:0:0:1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2001::1]/",
  "https://[fe80::1]/",
  "https://[fc00::1]/",
  "https://[fec0::1]/",
  "https://[ff02::1]/",
  "https://[2001:db8::1]/"
]

const harmless: ReadonlyArray<string> = [
  "https://example.com/",
  "https://localhost.example.com/",
  "https://93.184.216.34/",
  "https://[2606:2800:220:1:248:1893:25c8:1946]/",
  "https://xn--bcher-kva.example/"
]

describe("URLs", () => {
  it("that name a private address themselves are told from others", () => {
    for (const url of hostile) assert.isTrue(isPrivateUrl(new URL(url)), url)
    for (const url of harmless) assert.isFalse(isPrivateUrl(new URL(url)), url)
  })
})

const names: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  "private.example": [["10.0.0.1"]],
  "loopback.example": [["::1"]],
  "mapped.example": [["::ffff:127.0.0.1"]],
  "half.example": [["93.184.216.34", "127.0.0.1"]],
  "rebinding.example": [["93.184.216.34"], ["127.0.0.1"]],
  "none.example": [[]]
}

/** A network in which names resolve as above, one answer after the other, and nothing leaves this computer. */
const makeNetwork = () => {
  const lookups: Array<string> = []
  const connections: Array<string> = []
  // Nobody listens there.
  const port = 1
  const network: OutgoingNetwork = {
    lookup: (host) =>
      Effect.sync(() => {
        lookups.push(host)
        const answers = names[host] ?? [[]]
        const asked = lookups.filter((one) => one === host).length
        return (answers[asked - 1] ?? answers.at(-1)!).map(NetAddress.ipFromStringUnsafe)
      }),
    connect: (options) => {
      connections.push(String(options.host))
      return connect({ host: "127.0.0.1", port })
    },
    connectPlain: (options) => {
      connections.push(String((options as { host?: string }).host))
      return connectPlain({ host: "127.0.0.1", port })
    }
  }
  return { connections, lookups, network }
}

const sealed = newSecret()
const webhookOf = (url: string) => ({
  id: "0197a1b2-0000-7000-8000-000000000c01" as WebhookId,
  workspaceId: "0197a1b2-0000-7000-8000-000000000001" as WorkspaceId,
  url,
  format: "standard" as const,
  secret: Buffer.from(Redacted.value(sealed)),
  previousSecret: null,
  previousUntil: null
})

const event = {
  id: "0197a1b2-0000-7000-8000-0000000000a1" as EventId,
  kind: "tag_created",
  actor: { kind: "user" as const, id: "0197a1b2-0000-7000-8000-000000000001" as PersonId, name: "Ana", email: "a@b.c" },
  subject: { type: "tag", id: "1", label: "tag", url: "https://delivery.example/" },
  changes: [],
  createdAt: "2026-11-21T09:30:00.000Z"
}

const layerKeys = Layer.succeed(DataKeys, {
  cipher: () =>
    Effect.succeed({
      open: (_, secret) => Effect.succeed(Redacted.make(Buffer.from(secret).toString()))
    } as Effect.Success<ReturnType<DataKeys["Service"]["cipher"]>>)
})

const triesIn = (network: OutgoingNetwork, environment: Readonly<Record<string, string>> = {}) =>
  Tries.layer.pipe(Layer.provide([Layer.succeed(OutgoingNetwork, network), layerKeys, Settings.layer(environment)]))

const errorOf = (url: string) =>
  Effect.flatMap(Tries, (tries) =>
    Effect.map(tries.send(webhookOf(url), event.id, event), ({ attempt }) => attempt.error)
  )

describe("A webhook", () => {
  it.live("cannot be made for a URL that is not public, unless the settings allow it", () =>
    Effect.gen(function* () {
      const { network } = makeNetwork()
      const refusals = (urls: ReadonlyArray<string>) =>
        Effect.map(Tries, ({ refusalOf }) => urls.map((url) => refusalOf(url)))
      for (const why of yield* Effect.provide(refusals([...hostile, "http://example.com/"]), triesIn(network))) {
        assert.isString(why)
      }
      for (const why of yield* Effect.provide(refusals(harmless), triesIn(network))) assert.isUndefined(why)
      const allowed = triesIn(network, { WEBHOOK_PRIVATE: "true" })
      for (const why of yield* Effect.provide(refusals([...hostile, "http://10.0.0.1/"]), allowed)) {
        assert.isUndefined(why)
      }
      const named = "https://user:password@example.com/"
      assert.isString((yield* Effect.provide(refusals([named]), allowed))[0])
    })
  )

  it.live("connects to no address that is not public, however it is named", () =>
    Effect.gen(function* () {
      const { connections, network } = makeNetwork()
      const errors = (urls: ReadonlyArray<string>) =>
        Effect.forEach(urls, errorOf).pipe(Effect.provide(triesIn(network)))
      const names = ["private", "loopback", "mapped", "half"].map((name) => `https://${name}.example/`)
      for (const error of yield* errors([...hostile, ...names])) assert.strictEqual(error, "private_address")
      assert.deepStrictEqual(yield* errors(["http://rebinding.example/", "https://none.example/"]), [
        "not_https",
        "unknown_host"
      ])
      assert.deepStrictEqual(connections, [])
    })
  )

  it.live("connects to the address that was checked, though its name leads elsewhere a moment later", () =>
    Effect.gen(function* () {
      const { connections, lookups, network } = makeNetwork()
      const first = yield* Effect.provide(errorOf("https://rebinding.example/"), triesIn(network))
      assert.strictEqual(first, "connection_failed")
      assert.deepStrictEqual([lookups, connections], [["rebinding.example"], ["93.184.216.34"]])
      const second = yield* Effect.provide(errorOf("https://rebinding.example/"), triesIn(network))
      assert.strictEqual(second, "private_address")
      assert.lengthOf(connections, 1)
    })
  )
})
