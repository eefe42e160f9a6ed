import type {
  AddPasskey,
  PasskeyCreationOptions,
  PasskeyProof,
  PasskeyRequestOptions
} from "@delivery/domain/auth/Passkey"
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/**
 * A device with passkeys, and the browser before it, in software: by itself they do as WebAuthn says, and a test may have
 * them say anything else.
 */

export type Algorithm = -8 | -7 | -257 | -35

/** What is said instead of the truth. */
export interface Saying {
  readonly type?: string
  readonly origin?: string
  readonly crossOrigin?: boolean
  readonly challenge?: string
  readonly rpId?: string
  readonly flags?: number
  readonly counter?: number
  readonly id?: string
  readonly userHandle?: string | null
  /** Signs what is not sent. */
  readonly signed?: Buffer
}

type Cbor = number | string | Buffer | ReadonlyArray<Cbor> | ReadonlyMap<number | string, Cbor>

const head = (major: number, value: number): Buffer => {
  const first = major << 5
  if (value < 24) return Buffer.from([first | value])
  if (value < 0x100) return Buffer.from([first | 24, value])
  return Buffer.from([first | 25, value >> 8, value & 0xff])
}

const cbor = (value: Cbor): Buffer => {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<number | string, Cbor>)]
    return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, item]) => [cbor(key), cbor(item)])])
  }
  const items = value as ReadonlyArray<Cbor>
  return Buffer.concat([head(4, items.length), ...items.map(cbor)])
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest()

const newKeys = (algorithm: Algorithm) => {
  switch (algorithm) {
    case -8:
      return generateKeyPairSync("ed25519")
    case -7:
      return generateKeyPairSync("ec", { namedCurve: "P-256" })
    case -35:
      return generateKeyPairSync("ec", { namedCurve: "P-384" })
    case -257:
      return generateKeyPairSync("rsa", { modulusLength: 2048 })
  }
}

/** The public key in the form of COSE (RFC 9053). */
const coseOf = (algorithm: Algorithm, key: KeyObject): Buffer => {
  const jwk = key.export({ format: "jwk" }) as Readonly<Record<string, string>>
  const part = (name: string) => Buffer.from(jwk[name]!, "base64url")
  switch (algorithm) {
    case -8:
      return cbor(
        new Map<number, Cbor>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, part("x")]
        ])
      )
    case -257:
      return cbor(
        new Map<number, Cbor>([
          [1, 3],
          [3, -257],
          [-1, part("n")],
          [-2, part("e")]
        ])
      )
    default:
      return cbor(
        new Map<number, Cbor>([
          [1, 2],
          [3, algorithm],
          [-1, algorithm === -7 ? 1 : 2],
          [-2, part("x")],
          [-3, part("y")]
        ])
      )
  }
}

/** Present, and verified. */
const present = 0b101
/** May be kept, and is kept, in more than one place. */
export const synced = 0b11000
const hasCredential = 0b1000000

export class SoftPasskey {
  readonly id = randomBytes(16).toString("base64url")
  counter = 0
  readonly #origin: string
  readonly #algorithm: Algorithm
  readonly #keys: ReturnType<typeof newKeys>
  readonly #backup: number
  #userHandle = ""
  #rpId = ""

  constructor(origin: string, { algorithm = -7, backup = 0 }: { algorithm?: Algorithm; backup?: number } = {}) {
    this.#origin = origin
    this.#algorithm = algorithm
    this.#backup = backup
    this.#keys = newKeys(algorithm)
  }

  #clientData(type: string, challenge: string, saying: Saying): Buffer {
    const said = {
      type: saying.type ?? type,
      challenge: saying.challenge ?? challenge,
      origin: saying.origin ?? this.#origin,
      crossOrigin: saying.crossOrigin ?? false
    }
    return Buffer.from(JSON.stringify(said))
  }

  #authenticatorData(rpId: string, flags: number, saying: Saying): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(saying.counter ?? this.counter)
    return Buffer.concat([sha256(saying.rpId ?? rpId), Buffer.from([saying.flags ?? flags | this.#backup]), counter])
  }

  #sign(bytes: Buffer): Buffer {
    const hash = { [-8]: null, [-7]: "sha256", [-257]: "sha256", [-35]: "sha384" }[this.#algorithm]
    return sign(hash, bytes, this.#keys.privateKey)
  }

  /** What the browser answers to the options of adding a passkey. */
  create(
    options: PasskeyCreationOptions,
    saying: Saying & { readonly attestation?: "self" | "certified"; readonly leftover?: Buffer } = {}
  ): AddPasskey["response"] {
    this.#userHandle = options.user.id
    this.#rpId = options.rp.id
    const clientData = this.#clientData("webauthn.create", options.challenge, saying)
    const id = Buffer.from(this.id, "base64url")
    const data = Buffer.concat([
      this.#authenticatorData(options.rp.id, present | hasCredential, {
        ...saying,
        ...(saying.flags === undefined ? {} : { flags: saying.flags | hasCredential })
      }),
      Buffer.alloc(16),
      Buffer.from([0, id.length]),
      id,
      coseOf(this.#algorithm, this.#keys.publicKey),
      saying.leftover ?? Buffer.alloc(0)
    ])
    const statement = new Map<string, Cbor>()
    if (saying.attestation !== undefined) {
      statement.set("alg", this.#algorithm).set("sig", this.#sign(Buffer.concat([data, sha256(clientData)])))
      if (saying.attestation === "certified") statement.set("x5c", [randomBytes(64)])
    }
    const attestation = new Map<string, Cbor>([
      ["fmt", saying.attestation === undefined ? "none" : "packed"],
      ["attStmt", statement],
      ["authData", data]
    ])
    return {
      id: saying.id ?? this.id,
      type: "public-key",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        attestationObject: cbor(attestation).toString("base64url"),
        transports: ["internal", "telepathy"]
      }
    }
  }

  /** What the browser answers to the options of signing in, or of proving again who one is. */
  prove(options: PasskeyRequestOptions, saying: Saying = {}): PasskeyProof {
    this.counter++
    const clientData = this.#clientData("webauthn.get", options.challenge, saying)
    const data = this.#authenticatorData(this.#rpId, present, saying)
    const handle = saying.userHandle === undefined ? this.#userHandle : saying.userHandle
    return {
      id: saying.id ?? this.id,
      type: "public-key",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: this.#sign(saying.signed ?? Buffer.concat([data, sha256(clientData)])).toString("base64url"),
        ...(handle === null ? {} : { userHandle: handle })
      }
    }
  }
}
