import type { SignInPurpose, SingleSignOnError } from "@delivery/domain/auth/SingleSignOn"
import { type Forbidden, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { PersonId, SessionId, SignInFlowId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHmac } from "node:crypto"
import { freshProof } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken } from "../ids/Tokens.ts"
import { AccountSignIns } from "./AccountSignIns.ts"
import type { IssuerError } from "./Issuers.ts"
import type { Provider, ProvenAccount, Question } from "./Provider.ts"
import { Providers } from "./Providers.ts"
import { pathOf } from "./ReturnTo.ts"
import type { Begun, Browser } from "./Sessions.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { type SignInFlowRow, SignInFlowsRepo } from "./SignInFlowsRepo.ts"
import { Throttles, type Throttled } from "./Throttles.ts"
import { mayAddWaysIn } from "./WaysIn.ts"

/** How long a browser may be away at a provider, in milliseconds: 10 min. */
export const flowMillis = 10 * 60 * 1000

/** A browser, with the secret in its cookie that is for ways to a provider, of whatever form. */
export interface TravellingBrowser extends Browser {
  readonly secret: string | undefined
}

/** Where a browser is sent to a provider, and the secret that it is to keep. */
interface Started {
  readonly location: string
  readonly secret: string
}

/** Where a browser goes that has come back, and the session that began, or went on, if one did. */
interface Finished {
  readonly location: string
  readonly begun?: Begun | undefined
}

type As = Caller["Service"] | undefined

/** Signing in by a provider (docs/contract.md, Single sign-on). */
export class SingleSignOn extends Context.Service<
  SingleSignOn,
  {
    /** The providers of this server, and the paths at which signing in with them begins. */
    readonly providers: ReadonlyArray<{ readonly id: string; readonly name: string; readonly url: string }>
    readonly start: (
      provider: string,
      wanted: { readonly purpose: SignInPurpose; readonly returnTo: string | undefined },
      browser: TravellingBrowser,
      as: As
    ) => Effect.Effect<Started | { readonly location: string }, Unauthorized | Forbidden | NotFound | Throttled>
    readonly finish: (
      provider: string,
      answer: URLSearchParams,
      browser: TravellingBrowser,
      as: As
    ) => Effect.Effect<Finished, NotFound | Throttled>
  }
>()("@delivery/server/auth/SingleSignOn") {
  static readonly layer = Layer.effect(SingleSignOn, Effect.gen(make))
}

interface Dependencies {
  readonly audit: SignInAudit["Service"]
  readonly baseUrl: string
  readonly providers: ReadonlyArray<Provider>
  readonly flows: SignInFlowsRepo["Service"]
  readonly accounts: AccountSignIns["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly throttles: Throttles["Service"]
  readonly queue: RequestQueue["Service"]
  readonly nextId: NextId["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    audit: yield* SignInAudit,
    baseUrl: (yield* Settings).baseUrl,
    providers: (yield* Providers).all,
    flows: yield* SignInFlowsRepo,
    accounts: yield* AccountSignIns,
    blocks: yield* BlocksRepo,
    throttles: yield* Throttles,
    queue: yield* RequestQueue,
    nextId: yield* NextId,
    random: yield* SecureRandom.SecureRandom
  }
  return SingleSignOn.of({
    providers: dependencies.providers.map(({ id, name }) => ({ id, name, url: `/auth/v1/oidc/${id}/start` })),
    start: start(dependencies),
    finish: finish(dependencies)
  })
}

const providerOf = ({ providers }: Dependencies, id: string) =>
  Effect.suspend(() => {
    const provider = providers.find((provider) => provider.id === id)
    return provider === undefined ? Effect.fail(NotFound.of("provider", id)) : Effect.succeed(provider)
  })

const isSecret = (text: string | undefined): text is string => text !== undefined && /^[\w-]{43}$/.test(text)

/**
 * What a flow asks with. All of it follows from the secret of the browser and the state, so nothing is stored with which
 * somebody else could finish it.
 */
const questionOf = ({ baseUrl }: Dependencies, provider: Provider, secret: string, state: string): Question => {
  const derived = (of: string) => createHmac("sha256", secret).update(`${of} ${state}`).digest("base64url")
  return {
    state,
    nonce: derived("nonce"),
    verifier: derived("verifier"),
    redirectUri: `${baseUrl}/auth/v1/oidc/${provider.id}/callback`
  }
}

/** Whose session it is about: nobody's where somebody signs in. */
const sessionFor = Effect.fnUntraced(function* (dependencies: Dependencies, purpose: SignInPurpose, as: As) {
  if (purpose === "sign-in") return null
  if (as === undefined) return yield* Effect.fail(Unauthorized.session)
  if (purpose === "link") {
    yield* Effect.provideService(Effect.andThen(mayAddWaysIn(dependencies), freshProof), Caller, as)
  }
  return as.credential.id as SessionId
})

const start = (dependencies: Dependencies): SingleSignOn["Service"]["start"] => {
  const { flows, nextId, queue, random, throttles } = dependencies
  const newSecret = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))
  return Effect.fn("SingleSignOn.start")(function* (id, { purpose, returnTo }, browser, as) {
    const sessionId = yield* sessionFor(dependencies, purpose, as)
    const provider = yield* providerOf(dependencies, id)
    yield* throttles.begin("sign-ins", browser.address)
    const secret = isSecret(browser.secret) ? browser.secret : yield* newSecret
    const question = questionOf(dependencies, provider, secret, yield* newSecret)
    // A provider that is slow must not take the turns of other requests.
    const page = yield* queue.releaseWhile(provider.page(question, purpose === "sudo")).pipe(
      Effect.tapError(report(provider)),
      Effect.catch(({ reason }) => Effect.succeed(reason))
    )
    if (typeof page === "string") return { location: refusedAt(page) }
    const now = yield* Clock.currentTimeMillis
    yield* flows.insert({
      id: yield* nextId<SignInFlowId>(),
      stateHash: hashToken(question.state),
      browserHash: hashToken(secret),
      provider: provider.id,
      purpose,
      returnTo: pathOf(returnTo),
      sessionId,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + flowMillis)
    })
    return { location: page.href, secret }
  })
}

const finish = (dependencies: Dependencies): SingleSignOn["Service"]["finish"] => {
  const { accounts } = dependencies
  const returned = takeFlow(dependencies)
  const ask = askProvider(dependencies)
  const note = noteWrong(dependencies)
  return Effect.fn("SingleSignOn.finish")(function* (id, answer, browser, as) {
    const provider = yield* providerOf(dependencies, id)
    const finished = Effect.gen(function* () {
      const { flow, question } = yield* returned(provider, answer, browser)
      const begun = yield* ask(provider, flow, question, answer).pipe(
        Effect.flatMap((account) => apply(accounts, provider, flow, account, browser, as)),
        Effect.tapError((error) => (isWrong(error) ? note(provider, flow, browser, as) : Effect.void)),
        Effect.mapError((error) => (error === "wrong" ? "failed" : error))
      )
      return { location: flow.returnTo, begun }
    })
    return yield* Effect.catchIf(
      finished,
      (error): error is SingleSignOnError => typeof error === "string",
      (error) => Effect.succeed({ location: refusedAt(error) })
    )
  })
}

const isWrong = (error: SingleSignOnError | "wrong"): boolean => error === "wrong" || error === "other_account"

/** What proves nothing counts after all: only what is known at once is counted beforehand. */
const noteWrong =
  ({ audit, throttles }: Dependencies) =>
  (provider: Provider, { sessionId }: SignInFlowRow, browser: Browser, as: As) => {
    const failed =
      // Of a session it is known whose proof it should be.
      as?.credential.id === sessionId
        ? Effect.provideService(
            audit.failed(provider.method, [as.principal.id as PersonId], "proof_failed"),
            Caller,
            as
          )
        : audit.failed(provider.method)
    return Effect.andThen(failed, Effect.ignore(throttles.failed(browser.address)))
  }

/** Uses the flow up that the browser comes back from. One that nobody knows, or of another browser, counts as a failure. */
const takeFlow = (dependencies: Dependencies) => {
  const { audit, flows, throttles } = dependencies
  return Effect.fnUntraced(function* (provider: Provider, answer: URLSearchParams, browser: TravellingBrowser) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const state = answer.get("state")
    const { secret } = browser
    const shown = isSecret(secret) && isSecret(state ?? undefined) ? { secret, state: state! } : undefined
    const found =
      shown === undefined
        ? Effect.undefined
        : flows.use(
            { stateHash: hashToken(shown.state), browserHash: hashToken(shown.secret), provider: provider.id },
            now
          )
    const flow = yield* throttles.prove(
      browser.address,
      Effect.flatMap(found, (flow) =>
        flow === undefined
          ? Effect.andThen(audit.failed(provider.method), Effect.fail("failed" as const))
          : Effect.succeed(flow)
      )
    )
    return { flow, question: questionOf(dependencies, provider, shown!.secret, shown!.state) }
  })
}

const askProvider =
  ({ queue }: Dependencies) =>
  (
    provider: Provider,
    { purpose }: SignInFlowRow,
    question: Question,
    answer: URLSearchParams
  ): Effect.Effect<ProvenAccount, SingleSignOnError | "wrong"> =>
    queue.releaseWhile(provider.identify(question, answer, purpose === "sudo")).pipe(
      Effect.tapError(report(provider)),
      Effect.mapError(({ reason }) => (reason === "failed" ? "wrong" : reason))
    )

/** Does what the browser went for, now that it is known who it is. */
const apply = (
  accounts: AccountSignIns["Service"],
  provider: Provider,
  { purpose, sessionId }: SignInFlowRow,
  account: ProvenAccount,
  browser: Browser,
  as: As
): Effect.Effect<Begun | undefined, SingleSignOnError> => {
  if (purpose === "sign-in") return accounts.signIn(provider, account, browser)
  // The session ended meanwhile, or the browser has another by now.
  if (as === undefined || as.credential.id !== sessionId) return Effect.fail("failed")
  return purpose === "link"
    ? Effect.as(Effect.provideService(accounts.link(provider, account), Caller, as), undefined)
    : Effect.provideService(accounts.sudo(provider, account, browser), Caller, as)
}

const refusedAt = (error: SingleSignOnError): string => `/sign-in#error=${error}`

/** For whoever runs the server: never what was sent, nor by whom. */
const report =
  ({ id }: Provider) =>
  ({ code, reason }: IssuerError) =>
    reason === "denied" ? Effect.void : Effect.logWarning(`Signing in with ${id} failed (${reason}): ${code}.`)
