import { type CiKeyError, exchangeCiToken, hasCiToken } from "@delivery/client"
import { Effect, Schedule } from "effect"
import { Failure } from "./Failure.ts"

export { hasCiToken, lackingPermission } from "@delivery/client"

/** The service asks an issuer that did not answer again after five seconds. The token of the job stays good meanwhile. */
const tryAgain = { times: 2, schedule: Schedule.spaced("6 seconds") }

const issuerUnavailable = "issuer_unavailable"

/** A key for the job of a CI that the command runs in; undefined where it runs in none. The whole client is loaded for it. */
export const ciKey = ({ url, workspace }: { readonly url: string; readonly workspace: string }) =>
  Effect.suspend(() => {
    if (!hasCiToken()) return Effect.undefined
    return Effect.tryPromise({
      try: async () => (await exchangeCiToken({ baseUrl: url, workspace })).apiKey,
      catch: (error) => error as CiKeyError
    }).pipe(
      Effect.retry({ ...tryAgain, while: ({ reason }) => reason === issuerUnavailable }),
      Effect.mapError(({ message, reason, status }) =>
        status === undefined || reason === issuerUnavailable
          ? Failure.unreachable(message)
          : Failure.notSignedIn(message)
      )
    )
  })
