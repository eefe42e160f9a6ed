import type { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import type { AuditEntryId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { Audit, type NewAuditEntry } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { AuditRepo } from "../audit/AuditRepo.ts"
import { networkOf } from "../http/RateLimits.ts"
import { makeBehind } from "../storage/Behind.ts"
import { Storage } from "../storage/Storage.ts"
import { DeploymentTokensRepo } from "./DeploymentTokensRepo.ts"
import { LoadsRepo } from "./LoadsRepo.ts"
import { tokenSubject } from "./TokenSubjects.ts"

/** How long requests after the first are told by its entry, if they are equal. */
const burstMillis = 60_000

/** A request that a token makes, as the audit tells it. */
export interface TokenRead {
  readonly entry: Pick<NewAuditEntry, "action" | "subject" | "environments" | "versions" | "secrets" | "outcome">
  /** What was answered. Equal requests have equal ones. */
  readonly answered: string
  /** The versions that were read, all of the deployment's or some of them. */
  readonly load?: { readonly versions: Readonly<Record<SecretId, number>>; readonly extent: "all" | "some" }
}

/** Whose request it is. */
type By = Pick<DeployCaller["Service"], "workspaceId" | "product" | "environment" | "deployment" | "token" | "address">

/**
 * Has the audit tell of the requests of deployment tokens (docs/contract.md, Deployment tokens). The first is stored before it
 * is answered, with what goes with it; equal ones of the next minute are counted in its entry, at most a second later.
 */
export class ReadAudit extends Context.Service<
  ReadAudit,
  {
    readonly record: (by: By, read: TokenRead) => Effect.Effect<void>
    /** Forgets which entries were made for requests of which nobody makes another one in time. */
    readonly forget: Effect.Effect<void>
  }
>()("@delivery/server/deploy/ReadAudit") {
  static readonly layer = Layer.effect(ReadAudit, Effect.gen(make))
}

/** The entry of the last request of a kind. */
interface Burst {
  readonly fingerprint: string
  readonly entryId: AuditEntryId
  readonly beganAt: number
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly loads: LoadsRepo["Service"]
  readonly tokens: DeploymentTokensRepo["Service"]
  readonly audit: Audit["Service"]
  readonly entries: AuditRepo["Service"]
  readonly events: AuditedEvents["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    loads: yield* LoadsRepo,
    tokens: yield* DeploymentTokensRepo,
    audit: yield* Audit,
    entries: yield* AuditRepo,
    events: yield* AuditedEvents
  }
  const counts = yield* makeBehind<AuditEntryId, { readonly workspaceId: WorkspaceId; readonly count: number }>({
    task: "deployment_read_counts",
    failure: "The numbers of reads by deployment tokens could not be stored.",
    merge: (before, { count, workspaceId }) => ({ workspaceId, count: before.count + count }),
    store: (batch) => dependencies.entries.count(Array.from(batch, ([id, counted]) => ({ id, ...counted })))
  })
  const store = storeFirst(dependencies)
  const bursts = new Map<string, Burst>()
  return ReadAudit.of({
    record: Effect.fnUntraced(function* (by, read) {
      const now = yield* Clock.currentTimeMillis
      const key = `${by.token.id} ${by.address} ${read.entry.subject.id}`
      const fingerprint = hash("sha256", `${read.entry.action} ${read.answered}`, "base64url")
      const last = bursts.get(key)
      if (last === undefined || last.fingerprint !== fingerprint || last.beganAt <= now - burstMillis) {
        const stored = yield* store(by, read, fingerprint, now)
        forgetOld(bursts, now)
        bursts.delete(key)
        bursts.set(key, { ...stored, fingerprint })
        if (stored.isNew) return
        counts.note(stored.entryId, { workspaceId: by.workspaceId, count: 1 })
      } else counts.note(last.entryId, { workspaceId: by.workspaceId, count: 1 })
    }),
    // Twice the time: the clocks of servers are not the same.
    forget: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      dependencies.loads.eraseReads(timestamp(now - 2 * burstMillis))
    ).pipe(Effect.withSpan("ReadAudit.forget"))
  })
}

/** Those that are over stand first: each stands where it was stored. */
const forgetOld = (bursts: Map<string, Burst>, now: number): void => {
  for (const [key, { beganAt }] of bursts) {
    if (beganAt > now - burstMillis) return
    bursts.delete(key)
  }
}

/** Stores the entry of a request, unless an equal one of another process has one that it is to be counted in. */
const storeFirst = ({ audit, entries, events, loads, storage, tokens }: Dependencies) =>
  Effect.fnUntraced(function* (by: By, { entry, load }: TokenRead, fingerprint: string, millis: number) {
    const { deployment, token, workspaceId } = by
    const as = { workspace: { id: workspaceId }, actor: { kind: "deploymentToken", id: token.id } } as const
    const credential = { kind: "deploymentToken", id: token.id, lastFour: token.lastFour } as const
    const now: Timestamp = timestamp(millis)
    const stored = Effect.gen(function* () {
      const row = yield* audit.make(as, { ...entry, credential })
      const claimed = yield* loads.claimEntry(
        {
          workspaceId,
          tokenId: token.id,
          address: by.address,
          subjectId: entry.subject.id,
          fingerprint,
          entryId: row.id,
          beganAt: now
        },
        timestamp(millis - burstMillis)
      )
      const isNew = claimed.entryId === row.id
      if (isNew) yield* entries.insert([row])
      if (isNew && load !== undefined) {
        // The token before the deployment, which the row of a load refers to: who changes that waits for no reader.
        const network = { workspaceId, tokenId: token.id, network: networkOf(by.address), firstUsedAt: now }
        if ((yield* tokens.cameFrom(network)) === "other") {
          const subject = tokenSubject({ ...by, ...token })
          yield* events.record(as, { kind: "token_used_elsewhere", subject }, { credential })
        }
        const read = { workspaceId, deploymentId: deployment.id, loadedAt: now, versions: load.versions }
        yield* loads.load(read, load.extent)
      }
      return { entryId: claimed.entryId, beganAt: Date.parse(claimed.beganAt), isNew }
    })
    return yield* storage.transaction(stored)
  })
