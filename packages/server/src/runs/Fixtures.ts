import type { WorkspaceId } from "@delivery/domain/Ids"
import type { FixtureAccess } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Settings } from "../Config.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"

/** Access of runs to Fixture APIs, with which their tests make and delete test data (docs/contract.md, Fixtures). */
export class Fixtures extends Context.Service<
  Fixtures,
  {
    /** A token of a run or retry for the scope, valid at the Fixture API alone and until `expiresAt`. */
    readonly access: (
      of: { readonly workspaceId: WorkspaceId; readonly number: number; readonly retry?: number },
      fixture: { readonly scope: string; readonly url: string; readonly expiresAt: Timestamp }
    ) => Effect.Effect<FixtureAccess>
  }
>()("@delivery/server/runs/Fixtures") {
  static readonly layer = Layer.effect(Fixtures, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly keys: SigningKeys["Service"]
}

function* make() {
  const { baseUrl } = yield* Settings
  return Fixtures.of({ access: access({ baseUrl, keys: yield* SigningKeys }) })
}

const access = ({ baseUrl, keys }: Dependencies): Fixtures["Service"]["access"] =>
  Effect.fnUntraced(function* ({ number, retry, workspaceId }, { expiresAt, scope, url }) {
    const token = yield* keys.sign({
      iss: baseUrl,
      aud: url,
      sub: [workspaceId, number, retry].filter((part) => part !== undefined).join("/"),
      scope,
      iat: seconds(yield* Clock.currentTimeMillis),
      exp: seconds(Date.parse(expiresAt))
    })
    return { scope, token, url, expiresAt }
  })

/** JWTs count whole seconds. */
const seconds = (millis: number): number => Math.floor(millis / 1000)

/** What makes the scope of a run or retry unguessable. */
export const newScopeKey = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(random.randomBytes(8), (bytes) => Buffer.from(bytes).toString("hex"))
