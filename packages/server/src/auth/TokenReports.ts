import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { ApiKeyRow } from "../access/ActorRows.ts"
import { asReport } from "../audit/ActsInstead.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { networkOf } from "../http/RateLimits.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { InvitesRepo, inviteStatus, inviteSubject } from "../identity/InvitesRepo.ts"
import { endKey, type KeyChainDependencies } from "../identity/KeyChains.ts"
import { MadeSignIns } from "../identity/MadeSignIns.ts"
import { MadeTokens } from "../identity/MadeTokens.ts"
import { MadeWebhooks } from "../identity/MadeWebhooks.ts"
import { SessionsRepo } from "../identity/SessionsRepo.ts"
import { TrustedPublishersRepo } from "../identity/TrustedPublishersRepo.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { LoginsRepo } from "./LoginsRepo.ts"
import { MailedProofsRepo } from "./MailedProofsRepo.ts"
import { RunTokens } from "./RunTokens.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { SignInLinksRepo } from "./SignInLinksRepo.ts"
import { type Throttled, Throttles } from "./Throttles.ts"

/** Ends tokens that were found in the wrong hands (docs/contract.md, Reported tokens). */
export class TokenReports extends Context.Service<
  TokenReports,
  {
    /** Ends the token, whatever it is, unless too many reports came from the network of the address in this hour. */
    readonly report: (token: string, address: string) => Effect.Effect<void, Throttled>
  }
>()("@delivery/server/auth/TokenReports") {
  static readonly layer = Layer.effect(TokenReports, Effect.gen(make))
}

interface Dependencies extends KeyChainDependencies {
  readonly audit: SignInAudit["Service"]
  readonly entries: Audit["Service"]
  readonly sessions: SessionsRepo["Service"]
  readonly logins: LoginsRepo["Service"]
  readonly links: SignInLinksRepo["Service"]
  readonly mailed: MailedProofsRepo["Service"]
  readonly runTokens: RunTokens["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ApiKeysRepo,
    invites: yield* InvitesRepo,
    publishers: yield* TrustedPublishersRepo,
    signIns: yield* MadeSignIns,
    webhooks: yield* MadeWebhooks,
    tokens: yield* MadeTokens,
    audit: yield* SignInAudit,
    entries: yield* Audit,
    sessions: yield* SessionsRepo,
    logins: yield* LoginsRepo,
    links: yield* SignInLinksRepo,
    mailed: yield* MailedProofsRepo,
    runTokens: yield* RunTokens,
    workspaces: yield* WorkspacesRepo,
    events: yield* AuditedEvents
  }
  const { tokenReportLimit } = yield* Settings
  const throttles = yield* Throttles
  const storage = yield* Storage
  const end = endToken(dependencies)
  return TokenReports.of({
    report: Effect.fn("TokenReports.report")(function* (token: string, address: string) {
      yield* throttles.take(`reports of ${networkOf(address)}`, tokenReportLimit)
      yield* asReport(token)(storage.transaction(end(token)))
    })
  })
}

/** Ends the token, whatever it is; called in a transaction. */
const endToken = (dependencies: Dependencies) => {
  const { audit, repo, sessions, signIns, tokens } = dependencies
  const endCode = endLoginCode(dependencies)
  const endRunToken = endOfRun(dependencies)
  const end = endKey(dependencies)
  const revokeInvite = endInvite(dependencies)
  const endLink = useLinkUp(dependencies)
  return Effect.fnUntraced(function* (token: string) {
    const tokenHash = hashToken(token)
    if (isToken("ctk_", token)) {
      const key = yield* repo.ofToken(tokenHash)
      if (key !== undefined) yield* end(holderOf(key), key.id, "anyone", { isReported: true })
    } else if (isToken("itk_", token)) yield* revokeInvite(tokenHash)
    else if (isToken("atk_", token) || isToken("rtk_", token)) yield* signIns.endByToken(tokenHash)
    else if (isToken("otk_", token)) yield* Effect.andThen(signIns.endCode(tokenHash), endCode(tokenHash))
    else if (isToken("dtk_", token)) yield* tokens.endByToken(tokenHash)
    else if (isToken("wtk_", token)) {
      const session = yield* sessions.endByToken(tokenHash)
      if (session !== undefined) yield* audit.session(session, "session_ended")
    } else if (isToken("ltk_", token)) yield* endLink(tokenHash)
    else if (isToken("stk_", token)) yield* endRunToken(tokenHash)
  })
}

/** Codes are of clients of agents, or of the command line. */
const endLoginCode = ({ audit, logins }: Dependencies) =>
  Effect.fnUntraced(function* (codeHash: string) {
    const login = yield* logins.endCode(codeHash)
    if (login?.personId != null) yield* audit.login(login.personId, "login_code_reported", login)
  })

const endOfRun = ({ entries, runTokens }: Dependencies) =>
  Effect.fnUntraced(function* (tokenHash: string) {
    const ended = yield* runTokens.end(tokenHash)
    if (ended === undefined) return
    const { publisher, run, workspaceId } = ended
    const by = { workspace: { id: workspaceId }, actor: publisher }
    yield* entries.record(by, { action: "run_token_reported", subject: run })
  })

/** Links are printed by the host, or mailed to sign in or to prove an address. */
const useLinkUp = ({ audit, links, mailed }: Dependencies) =>
  Effect.fnUntraced(function* (tokenHash: string) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const printedFor = yield* links.use(tokenHash, now)
    if (printedFor !== undefined) yield* audit.linkReported(printedFor)
    for (const purpose of ["sign_in", "address"] as const) {
      const proof = yield* mailed.findByToken(purpose, tokenHash, now)
      const used = proof && (yield* mailed.use(proof.id, now))
      if (used !== undefined && used.personId !== null) yield* audit.linkReported(used.personId)
    }
  })

/** Nobody else is known to act than whose token it is. */
const holderOf = ({ id, personId }: ApiKeyRow): ActorRef =>
  personId === null ? { kind: "apiKey", id } : { kind: "user", id: personId }

const endInvite = ({ events, invites }: Dependencies) =>
  Effect.fnUntraced(function* (tokenHash: string) {
    // One whose maker is blocked would be good again once that is let in.
    const found = yield* invites.ofToken(tokenHash)
    const invite = found && (yield* invites.lock(found.workspaceId, found.id))
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (invite === undefined || inviteStatus(invite, now) !== "pending") return
    yield* invites.end(invite.id, "revoked", now)
    const { inviter, workspaceId } = invite
    if (inviter.kind === "removed") return
    const by = { workspace: { id: workspaceId }, actor: { kind: inviter.kind, id: inviter.id } as ActorRef }
    yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
  })
