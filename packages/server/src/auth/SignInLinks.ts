import { printedLinkMillis } from "@delivery/domain/auth/Session"
import { Unauthorized } from "@delivery/domain/Errors"
import type { PersonId, SignInLinkId } from "@delivery/domain/Ids"
import { addressKey, isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { PersonRow } from "../access/ActorRows.ts"
import { Settings } from "../Config.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, isToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { SignInLinksRepo } from "./SignInLinksRepo.ts"

/** Links by which a person signs in, each once (docs/contract.md, Sessions). */
export class SignInLinks extends Context.Service<
  SignInLinks,
  {
    /** A new link for the person, good for an hour in any browser. The address is the only place with its token. */
    readonly print: (personId: PersonId) => Effect.Effect<string>
    /** The same for whoever has the id or email; undefined where nobody has it. */
    readonly printFor: (who: string) => Effect.Effect<{ readonly person: PersonRow; readonly url: string } | undefined>
    /** Uses the link up, and answers whose it was. With `only`, a link of somebody else fails and stays good. */
    readonly use: (token: string, only?: PersonId) => Effect.Effect<PersonId, Unauthorized>
  }
>()("@delivery/server/auth/SignInLinks") {
  static readonly layer = Layer.effect(
    SignInLinks,
    Effect.gen(function* () {
      const { baseUrl } = yield* Settings
      const repo = yield* SignInLinksRepo
      const persons = yield* PersonsRepo
      const nextId = yield* NextId
      const newToken = yield* NewToken
      const audit = yield* SignInAudit
      const storage = yield* Storage
      const insert = Effect.fnUntraced(function* (personId: PersonId) {
        const token = yield* newToken("ltk_")
        const now = yield* Clock.currentTimeMillis
        yield* repo.insert({
          id: yield* nextId<SignInLinkId>(),
          personId,
          tokenHash: hashToken(token),
          createdAt: timestamp(now),
          expiresAt: timestamp(now + printedLinkMillis)
        })
        yield* audit.linkCreated(personId)
        return `${baseUrl}/sign-in#${token}`
      })
      const print = Effect.fn("SignInLinks.print")((personId: PersonId) => storage.transaction(insert(personId)))
      return SignInLinks.of({
        print,
        printFor: Effect.fn("SignInLinks.printFor")(function* (who: string) {
          const person = isId(who)
            ? yield* persons.find(who as PersonId)
            : (yield* persons.list).find(({ email }) => email === addressKey(who.trim()))
          return person && { person, url: yield* print(person.id) }
        }),
        use: Effect.fn("SignInLinks.use")(function* (token: string, only?: PersonId) {
          const now = timestamp(yield* Clock.currentTimeMillis)
          const personId = isToken("ltk_", token) ? yield* repo.use(hashToken(token), now, only) : undefined
          return personId ?? (yield* Effect.fail(Unauthorized.signInFailed))
        })
      })
    })
  )
}
