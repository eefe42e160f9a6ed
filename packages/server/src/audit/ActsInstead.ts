import type { AuditCredential } from "@delivery/domain/audit/Audit"
import { Context, Effect } from "effect"

/** Who acts in the place of an actor, where it is not they who do it. */
export const ActsInstead = Context.Reference<AuditCredential | undefined>("@delivery/server/audit/ActsInstead", {
  defaultValue: () => undefined
})

const instead = (kind: "host" | "report" | "server", lastFour = "") =>
  Effect.provideService(ActsInstead, { kind, id: "", lastFour })

/** What is told meanwhile was done by whoever runs the server. */
export const asHost = instead("host")

/** What is told meanwhile was done by the server itself. */
export const asServer = instead("server")

/** What is told meanwhile was done by somebody who reported the token. */
export const asReport = (token: string) => instead("report", token.slice(-4))
