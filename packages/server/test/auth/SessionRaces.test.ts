import type { PasskeyProof } from "@delivery/domain/auth/Passkey"
import type { PersonId } from "@delivery/domain/Ids"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Logins } from "../../src/auth/Logins.ts"
import { Passkeys } from "../../src/auth/Passkeys.ts"
import { type Begun, type Browser, Sessions } from "../../src/auth/Sessions.ts"
import { SignInLinks } from "../../src/auth/SignInLinks.ts"
import { Throttles } from "../../src/auth/Throttles.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { makeAuthenticateSession } from "../../src/identity/SessionAuthentication.ts"
import { Caller } from "@delivery/domain/identity/Authorization"
import { addPerson, unique } from "../identity/Scene.ts"
import { SoftPasskey } from "../support/Authenticator.ts"
import { baseUrl, layerServices, sharedStorages } from "../support/Storages.ts"
import { newVerifier, redirectUri, startBody } from "./LoginScene.ts"

/** Two servers of one database: what excludes each other, done at once. */

const atOnce = { concurrency: "unbounded" } as const

const servers = Effect.gen(function* () {
  const build = Layer.build(Layer.fresh(layerServices))
  return [yield* build, yield* build] as const
})

/** Each test has an address of its own: what fails counts for the address. */
const browserOf = (address: string, token?: string): Browser => ({ device: "Firefox on Linux", address, token })

const tokenOf = (link: string) => link.split("#")[1]!

/** Who the caller is whose cookie has the token, or how the request is refused. */
const authenticate = (token: string) =>
  Effect.flatMap(makeAuthenticateSession, (authenticated) => authenticated(token)).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/"))
    ),
    Effect.provideService(HttpRouter.RouteContext, { params: {} } as never)
  )

for (const storage of sharedStorages) {
  layer(storage.layer, { excludeTestServices: true, timeout: 60_000 })(`Races of sign-ins on ${storage.name}`, (it) => {
    const signedIn = Effect.fnUntraced(function* (personId: PersonId) {
      return yield* (yield* Sessions).begin(personId, "link", browserOf(unique("address")))
    })

    it.effect("a link that is used 50 times at once works once, at whichever server", () =>
      Effect.gen(function* () {
        const [first, second] = yield* servers
        const { id } = yield* addPerson()
        for (let round = 0; round < 5; round++) {
          const link = yield* Effect.provideContext(
            Effect.flatMap(SignInLinks, (links) => links.print(id)),
            first
          )
          const browser = browserOf(unique("address"))
          const answers = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? first : second)),
            (server) =>
              Effect.flatMap(Sessions, (sessions) => sessions.consumeLink({ token: tokenOf(link) }, browser)).pipe(
                Effect.result,
                Effect.provideContext(server)
              ),
            atOnce
          )
          const begun = answers.filter(Result.isSuccess).map(({ success }) => success)
          assert.lengthOf(begun, 1)
          const failures = answers.filter(Result.isFailure).map(({ failure }) => failure._tag)
          // One that succeeds gives its place back: there is room for one that fails more.
          assert.isAtLeast(failures.filter((tag) => tag === "Unauthorized").length, 19)
          assert.strictEqual((yield* Effect.provideContext(authenticate(begun[0]!.token), second)).principal.id, id)
        }
      })
    )

    it.effect("a login of the command line that is redeemed 50 times at once makes one key, at whichever server", () =>
      Effect.gen(function* () {
        const both = yield* servers
        const [first] = both
        const { id: personId } = yield* addPerson()
        const { signedIn: as } = yield* Effect.provideContext(signedIn(personId), first)
        const allowed = Effect.fnUntraced(function* (withBrowser: boolean) {
          const logins = yield* Logins
          const codeVerifier = newVerifier()
          const asked = startBody(codeVerifier, withBrowser ? { redirectUri } : {})
          const { id, userCode } = yield* logins.start(asked, unique("address"))
          const typed = userCode === null ? {} : { userCode }
          const { location } = yield* asCaller(as, logins.decide(id, { allow: true, ...typed }, unique("address")))
          const code = location === null ? {} : { code: new URL(location).searchParams.get("code")! }
          return { id, proof: { codeVerifier, ...code } }
        })
        for (const withBrowser of [true, false, true, false]) {
          const { id, proof } = yield* Effect.provideContext(allowed(withBrowser), first)
          const answers = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => both[index % 2]!),
            (server) =>
              Effect.provideContext(
                Effect.result(Effect.flatMap(Logins, (logins) => logins.redeem(id, proof, unique("address")))),
                server
              ),
            atOnce
          )
          const made = answers.filter(Result.isSuccess).map(({ success }) => success.id)
          assert.lengthOf(made, 1)
          const failures = answers.filter(Result.isFailure).map(({ failure }) => failure._tag)
          assert.deepStrictEqual(new Set(failures), new Set(["Unauthorized"]))
          const stored = yield* Effect.provideContext(
            Effect.flatMap(ApiKeysRepo, (keys) => keys.ofPerson(personId)),
            first
          )
          assert.strictEqual(stored[0]!.id, made[0])
        }
        assert.lengthOf(
          yield* Effect.provideContext(
            Effect.flatMap(ApiKeysRepo, (keys) => keys.ofPerson(personId)),
            first
          ),
          4
        )
      })
    )

    /** A passkey of the person, which the server knows. */
    const passkeyOf = Effect.fnUntraced(function* (personId: PersonId) {
      const { signedIn: as } = yield* signedIn(personId)
      const passkey = new SoftPasskey(baseUrl)
      const added = Effect.flatMap(Passkeys, (passkeys) =>
        Effect.flatMap(passkeys.addOptions, (options) =>
          passkeys.add({ response: passkey.create(options) }, browserOf("address"))
        )
      )
      yield* asCaller(as, added)
      return passkey
    })
    const passkeyRequest = Effect.flatMap(Passkeys, (passkeys) => passkeys.signInOptions(browserOf(unique("address"))))
    const signInBy = (proof: PasskeyProof) =>
      Effect.result(Effect.flatMap(Passkeys, (passkeys) => passkeys.signIn(proof, browserOf(unique("address")))))

    it.effect("a challenge that is answered 50 times at once signs in once, at whichever server", () =>
      Effect.gen(function* () {
        const both = yield* servers
        const [first] = both
        const { id } = yield* addPerson()
        const passkey = yield* Effect.provideContext(passkeyOf(id), first)
        for (let round = 0; round < 3; round++) {
          const request = yield* Effect.provideContext(passkeyRequest, first)
          const proofs = Array.from({ length: 50 }, () => passkey.prove(request))
          const answers = yield* Effect.forEach(
            proofs,
            (proof, index) => Effect.provideContext(signInBy(proof), both[index % 2]!),
            atOnce
          )
          const begun = answers.filter(Result.isSuccess).map(({ success }) => success)
          assert.deepStrictEqual(
            begun.map(({ signedIn }) => signedIn.person.id),
            [id]
          )
          const failures = answers.filter(Result.isFailure).map(({ failure }) => failure._tag)
          assert.deepStrictEqual(new Set(failures), new Set(["Unauthorized"]))
        }
      })
    )

    it.effect("two devices that count as one do not both sign in", () =>
      Effect.gen(function* () {
        const [first, second] = yield* servers
        const { id } = yield* addPerson()
        const passkey = yield* Effect.provideContext(passkeyOf(id), first)
        for (let counter = 1; counter <= 10; counter++) {
          const [one, other] = [
            yield* Effect.provideContext(passkeyRequest, first),
            yield* Effect.provideContext(passkeyRequest, first)
          ]
          const answers = yield* Effect.all(
            [
              Effect.provideContext(signInBy(passkey.prove(one, { counter })), first),
              Effect.provideContext(signInBy(passkey.prove(other, { counter })), second)
            ],
            atOnce
          )
          assert.lengthOf(answers.filter(Result.isSuccess), 1)
        }
      })
    )

    it.effect("of 60 failures at once, 20 codes are looked at, and every link, which nobody can guess", () =>
      Effect.gen(function* () {
        const both = yield* servers
        for (const [kind, expected] of [
          ["guess", 20],
          ["prove", 60]
        ] as const) {
          const address = unique("address")
          const looked = { count: 0 }
          const proof = Effect.suspend(() => {
            looked.count++
            return Effect.fail("wrong" as const)
          })
          const answers = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, index) => both[index % 2]!),
            (server) =>
              Effect.provideContext(
                Effect.result(Effect.flatMap(Throttles, (throttles) => throttles[kind](address, proof))),
                server
              ),
            atOnce
          )
          assert.strictEqual(looked.count, expected)
          const wrong = answers.filter((answer) => Result.isFailure(answer) && answer.failure === "wrong")
          assert.lengthOf(wrong, 20)
        }
      })
    )

    it.effect("of 60 mails asked for at once from one network address, 20 are, and each that is used makes room", () =>
      Effect.gen(function* () {
        const both = yield* servers
        const from = unique("address")
        const ask = (server: (typeof both)[number]) =>
          Effect.provideContext(
            Effect.result(Effect.flatMap(Throttles, (throttles) => throttles.mail(from, unique("mailbox")))),
            server
          )
        const askOften = Effect.forEach(
          Array.from({ length: 60 }, (_, index) => both[index % 2]!),
          ask,
          atOnce
        )
        const asked = (yield* askOften).filter(Result.isSuccess).map(({ success }) => success)
        assert.lengthOf(asked, 20)
        yield* Effect.forEach(
          asked.slice(0, 7),
          (counted, index) =>
            Effect.provideContext(
              Effect.flatMap(Throttles, (throttles) => throttles.giveBack(counted)),
              both[index % 2]!
            ),
          atOnce
        )
        assert.lengthOf((yield* askOften).filter(Result.isSuccess), 7)
      })
    )

    it.effect("a session that is ended during requests authenticates none that comes afterwards", () =>
      Effect.gen(function* () {
        const [first, second] = yield* servers
        const { id } = yield* addPerson()
        for (let round = 0; round < 20; round++) {
          const { signedIn: as, token } = yield* Effect.provideContext(signedIn(id), first)
          const request = Effect.result(Effect.provideContext(authenticate(token), second))
          const ended = asCaller(
            as,
            Effect.flatMap(Sessions, (sessions) => sessions.end(as.session.id))
          )
          yield* Effect.all([request, Effect.provideContext(ended, first), request, request], atOnce)
          const after = yield* request
          assert.isTrue(Result.isFailure(after) && after.failure._tag === "Unauthorized")
        }
      })
    )

    it.effect("two proofs at once give one session one token, and requests beside them have an answer", () =>
      Effect.gen(function* () {
        const [first, second] = yield* servers
        const { id } = yield* addPerson()
        for (let round = 0; round < 20; round++) {
          const { signedIn: as, token } = yield* Effect.provideContext(signedIn(id), first)
          const browser = browserOf(unique("address"), token)
          const sudo = Effect.gen(function* () {
            const link = tokenOf(yield* (yield* SignInLinks).print(id))
            return yield* asCaller(
              as,
              Effect.flatMap(Sessions, (sessions) => sessions.sudo({ token: link }, browser))
            )
          })
          const [one, request, other] = yield* Effect.all(
            [
              Effect.result(Effect.provideContext(sudo, first)),
              Effect.result(Effect.provideContext(authenticate(token), second)),
              Effect.result(Effect.provideContext(sudo, second))
            ],
            atOnce
          )
          if (Result.isFailure(request)) assert.strictEqual(request.failure._tag, "Unauthorized")
          const proved = [one, other].filter(Result.isSuccess).map(({ success }) => success)
          assert.lengthOf(proved, 1)
          assert.isTrue(Result.isFailure(yield* Effect.result(Effect.provideContext(authenticate(token), first))))
          const { credential } = yield* Effect.provideContext(authenticate(proved[0]!.token), second)
          assert.strictEqual(credential.id, as.session.id)
        }
      })
    )
  })
}

const asCaller = <A, E, R>({ person, session }: Begun["signedIn"], effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Caller, {
    principal: { kind: "user", ...person },
    membership: undefined,
    credential: { kind: "session", id: session.id, lastFour: "0000" }
  })
