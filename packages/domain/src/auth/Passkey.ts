import { Schema } from "effect"
import { Body } from "../Body.ts"
import { PasskeyId } from "../Ids.ts"
import { atMost, Name } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { SignInProof } from "./Session.ts"

/** How many passkeys a person has at most. */
export const maxPasskeys = 10

/** How long a challenge can be answered, in milliseconds: 5 min. */
export const challengeMillis = 5 * 60 * 1000

/** The algorithms of keys (COSE): EdDSA, ES256 and RS256. */
export const passkeyAlgorithms = [-8, -7, -257] as const

const PasskeyName = Name(100).annotate({
  description: "What its person calls it, at most 100 characters.",
  examples: ["Laptop"]
})

/** A passkey of a person, as their list shows it (docs/contract.md, Passkeys). Its public key is shown to nobody. */
export const Passkey = Schema.Struct({
  id: PasskeyId,
  name: Schema.String.annotate({ description: "What its person calls it." }),
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp).annotate({ description: "When it last signed its person in or proved them." }),
  synced: Schema.Boolean.annotate({
    description: "Whether it is kept in more than one place, such as all devices of the person, as the device says."
  })
}).annotate({
  identifier: "Passkey",
  description: "A passkey of a person.",
  examples: [
    {
      id: PasskeyId.make("0197a1b2-0000-7000-8000-0000000000e1"),
      name: "Laptop",
      createdAt: "2026-11-21T09:30:00.000Z",
      lastUsedAt: null,
      synced: true
    }
  ]
})
export type Passkey = typeof Passkey.Type

const base64Url = (max: number) =>
  Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9_-]+$/, { message: "Expected base64url without padding" }),
    atMost(max)
  )

/** The largest id of a credential has 1,023 bytes. */
const CredentialId = base64Url(1_364).annotate({ description: "The id of the credential, in base64url." })
const ClientData = base64Url(8_192).annotate({ description: "What the browser signed for, in base64url." })
const PublicKey = Schema.Literal("public-key").annotate({
  message: "Expected public-key",
  description: "The type of every passkey."
})

const example = {
  id: "q3h6oZf0R1WkVb8cNn1yXw",
  clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
  authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
  signature: "MEUCIQDxkQ",
  challenge: "mJ0h4kq1v8eXo2Zr5tYw7uB9cD3fG6iK"
}
const exampleProof = {
  id: example.id,
  type: "public-key" as const,
  response: {
    clientDataJSON: example.clientDataJSON,
    authenticatorData: example.authenticatorData,
    signature: example.signature,
    userHandle: "AZehsgAAcACAAAAAAAAAAQ"
  }
}

/** What a browser answers to a request for a passkey: `AuthenticationResponseJSON` of WebAuthn Level 3. */
export const PasskeyProof = Body({
  id: CredentialId,
  type: PublicKey,
  response: Body({
    clientDataJSON: ClientData,
    authenticatorData: base64Url(8_192).annotate({ description: "What the device says, in base64url." }),
    signature: base64Url(4_096).annotate({ description: "The signature over both, in base64url." }),
    userHandle: Schema.optionalKey(
      Schema.NullOr(base64Url(86)).annotate({ description: "Whose passkey it is, in base64url." })
    )
  })
}).annotate({
  identifier: "PasskeyProof",
  description: "What a browser answers to a request for a passkey: `AuthenticationResponseJSON` of WebAuthn Level 3.",
  examples: [exampleProof]
})
export type PasskeyProof = typeof PasskeyProof.Type

/** A new passkey: what a browser answers to the options, `RegistrationResponseJSON` of WebAuthn Level 3, and a name. */
export const AddPasskey = Body({
  name: Schema.optionalKey(PasskeyName),
  response: Body({
    id: CredentialId,
    type: PublicKey,
    response: Body({
      clientDataJSON: ClientData,
      attestationObject: base64Url(16_384).annotate({ description: "The new credential, in base64url." }),
      transports: Schema.optionalKey(
        Schema.Array(Schema.String.check(atMost(32)))
          .check(Schema.isMaxLength(16, { message: "Expected at most 16 entries" }))
          .annotate({ description: "How the device can be reached." })
      )
    })
  })
}).annotate({
  identifier: "AddPasskey",
  description:
    "A new passkey: what the browser answered, `RegistrationResponseJSON` of WebAuthn Level 3, and what to call it. Without a name, it is called as the browser.",
  examples: [
    {
      name: "Laptop",
      response: {
        id: example.id,
        type: "public-key",
        response: {
          clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
          attestationObject: "o2NmbXRkbm9uZWdhdHRTdG10oA",
          transports: ["internal"]
        }
      }
    }
  ]
})
export type AddPasskey = typeof AddPasskey.Type

export const RenamePasskey = Body({ name: PasskeyName }).annotate({
  identifier: "RenamePasskey",
  description: "What to call a passkey.",
  examples: [{ name: "Laptop" }]
})
export type RenamePasskey = typeof RenamePasskey.Type

/** What proves again who the person of a session is: a link, or one of their passkeys. */
export const SudoProof = Schema.Union([
  SignInProof,
  Body({ passkey: PasskeyProof }).annotate({
    identifier: "PasskeySudoProof",
    description: "A passkey of the person, as an answer to the options of `sudo`.",
    examples: [{ passkey: exampleProof }]
  })
]).annotate({
  identifier: "SudoProof",
  description:
    "What proves again who the person of a session is: the token of a link, the code of a mail, or a passkey.",
  message: "Expected an object",
  examples: [{ passkey: exampleProof }]
})
export type SudoProof = typeof SudoProof.Type

const Descriptor = Schema.Struct({
  id: Schema.String.annotate({ description: "The id of the credential, in base64url." }),
  type: Schema.Literal("public-key"),
  transports: Schema.Array(Schema.String).annotate({ description: "How the device can be reached." })
}).annotate({
  identifier: "PasskeyDescriptor",
  description: "A passkey as a browser knows it.",
  examples: [{ id: example.id, type: "public-key", transports: ["internal"] }]
})

const Challenge = Schema.String.annotate({
  description: "What is to be signed, in base64url. It works once, for 5 minutes."
})
const Timeout = Schema.Int.annotate({ description: "For how many milliseconds it works." })

/** What a browser is to ask a device for: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3. */
export const PasskeyRequestOptions = Schema.Struct({
  rpId: Schema.String.annotate({ description: "The host of `BASE_URL`." }),
  challenge: Challenge,
  allowCredentials: Schema.Array(Descriptor).annotate({
    description: "The passkeys that may answer; empty: any of this service."
  }),
  timeout: Timeout,
  userVerification: Schema.Literal("required")
}).annotate({
  identifier: "PasskeyRequestOptions",
  description: "What a browser asks a device for: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3.",
  examples: [
    {
      rpId: "delivery.example.com",
      challenge: example.challenge,
      allowCredentials: [],
      timeout: challengeMillis,
      userVerification: "required"
    }
  ]
})
export type PasskeyRequestOptions = typeof PasskeyRequestOptions.Type

/** How a browser is to make a passkey: `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3. */
export const PasskeyCreationOptions = Schema.Struct({
  rp: Schema.Struct({ id: Schema.String, name: Schema.String }).annotate({
    description: "The host of `BASE_URL`, and the name of the service."
  }),
  user: Schema.Struct({ id: Schema.String, name: Schema.String, displayName: Schema.String }).annotate({
    description: "The person: an id in base64url, their email address and their name."
  }),
  challenge: Challenge,
  pubKeyCredParams: Schema.Array(Schema.Struct({ type: Schema.Literal("public-key"), alg: Schema.Int })).annotate({
    description: "The algorithms of keys: EdDSA, ES256 and RS256."
  }),
  timeout: Timeout,
  excludeCredentials: Schema.Array(Descriptor).annotate({ description: "The passkeys that the person has." }),
  authenticatorSelection: Schema.Struct({
    residentKey: Schema.Literal("required"),
    requireResidentKey: Schema.Literal(true),
    userVerification: Schema.Literal("required")
  }).annotate({ description: "That the device keeps it, and verifies its person." }),
  attestation: Schema.Literal("none")
}).annotate({
  identifier: "PasskeyCreationOptions",
  description: "How a browser makes a passkey: `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3.",
  examples: [
    {
      rp: { id: "delivery.example.com", name: "Workspace Delivery Service" },
      user: { id: "AZehsgAAcACAAAAAAAAAAQ", name: "ana@example.com", displayName: "Ana Diaz" },
      challenge: example.challenge,
      pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: "public-key", alg })),
      timeout: challengeMillis,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none"
    }
  ]
})
export type PasskeyCreationOptions = typeof PasskeyCreationOptions.Type
