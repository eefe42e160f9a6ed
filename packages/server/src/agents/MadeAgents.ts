import { Effect, Layer } from "effect"
import { agentName } from "../access/ActorRows.ts"
import { Audit } from "../audit/Audit.ts"
import { MadeSignIns } from "../identity/MadeSignIns.ts"
import { clientSubject } from "./Authorizations.ts"
import { AuthorizationsRepo } from "./AuthorizationsRepo.ts"
import { recordEnds } from "./SignInEnds.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

/** The sign-ins of agents, as the credentials that they are: they end, and are blocked, with what they were made with. */
export const layer = Layer.effect(
  MadeSignIns,
  Effect.gen(function* () {
    const repo = yield* SignInsRepo
    const authorizations = yield* AuthorizationsRepo
    const audit = yield* Audit
    const record = recordEnds(audit)
    return MadeSignIns.of({
      end: (makers, by) => Effect.flatMap(repo.endMadeBy(makers), (ended) => record(ended, "maker_ended", by)),
      madeBy: repo.madeBy,
      accessChanged: repo.notifyChanged,
      endCode: Effect.fnUntraced(function* (codeHash) {
        const code = yield* authorizations.endCode(codeHash)
        if (code === undefined) return
        const by = { workspace: { id: code.workspaceId }, actor: { kind: "user", id: code.personId } } as const
        yield* audit.record(by, { action: "agent_code_reported", subject: clientSubject(code) })
      }),
      list: (workspaceId, now) =>
        Effect.map(repo.listLive(workspaceId, now), (signIns) =>
          signIns.map(({ agent, computer, createdAt, expiresAt, id, person, refreshedAt, role, scope }) => {
            const name = agentName(agent)
            return {
              id,
              kind: "agent",
              name: computer?.name ?? name,
              owner: { kind: "agent", id: agent.id, name, person },
              createdBy: { kind: "user", ...person },
              lastFour: null,
              scopes: scope === "read" ? ["read"] : ["read", "write"],
              role,
              createdAt,
              lastUsedAt: computer?.lastSeenAt ?? refreshedAt,
              expiresAt
            }
          })
        ),
      endByToken: Effect.fnUntraced(function* (tokenHash) {
        const id = (yield* repo.ofAccessToken(tokenHash))?.id ?? (yield* repo.lockByRefreshToken(tokenHash))?.signIn.id
        if (id !== undefined) yield* record(yield* repo.end(id), "reported")
      })
    })
  })
)
