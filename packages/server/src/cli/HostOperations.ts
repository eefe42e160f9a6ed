import { Name } from "@delivery/domain/Text"
import { Effect, Option, Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { asHost } from "../audit/ActsInstead.ts"
import { SignInAudit } from "../auth/SignInAudit.ts"
import { SignInLinks } from "../auth/SignInLinks.ts"
import { Verified } from "../backups/Verification.ts"
import { Settings } from "../Config.ts"
import { insecureBaseUrl, keepsCookies } from "../http/OwnPages.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { Persons } from "../identity/Persons.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { CaseCounting } from "../runs/cases/CaseCounting.ts"
import { Storage } from "../storage/Storage.ts"

/** What commands of the host do: on the database, or in the server that holds it. Each answers what to print. */

/** Why it was not done. The message is one line. */
export class HostRefusal extends Schema.TaggedError<HostRefusal>()("HostRefusal", { message: Schema.String }) {}

const operation = { success: Schema.String, error: HostRefusal }

/** The same for a command in another process. */
export const HostRpcs = RpcGroup.make(
  Rpc.make("listPersons", operation),
  Rpc.make("verifyPerson", { ...operation, payload: { email: Schema.String } }),
  Rpc.make("createApiKey", { ...operation, payload: { email: Schema.String, name: Schema.String } }),
  Rpc.make("printSignInLink", { ...operation, payload: { who: Schema.String } }),
  Rpc.make("rebuildCases", operation),
  // Answers once the database is copied. Stored files are kept until the copy is ended, or whoever asked is gone.
  Rpc.make("copyDatabase", {
    payload: { directory: Schema.String },
    success: Schema.Null,
    error: HostRefusal,
    stream: true
  }),
  Rpc.make("endCopy", { payload: { directory: Schema.String }, success: Schema.Null }),
  Rpc.make("verify", { success: Verified, error: HostRefusal })
)

/** The operations over the services of a database. */
export const makeOperations = Effect.gen(function* () {
  const persons = yield* PersonsRepo
  const workspaces = yield* WorkspacesRepo
  const apiKeys = yield* ApiKeys
  const links = yield* SignInLinks
  const audit = yield* SignInAudit
  const storage = yield* Storage
  const named = yield* Persons
  const counting = yield* CaseCounting
  /** The one person with the address or id. */
  const personNamed = Effect.fnUntraced(function* (who: string) {
    const [found, ...others] = yield* named.named(who)
    if (found === undefined) return yield* nobody(who)
    if (others.length === 0) return found
    const ids = [found, ...others].map(({ id, name }) => `${id} (${name})`).join(", ")
    return yield* new HostRefusal({
      message: `Several persons have this email, and none has proven it. Name one by their id: ${ids}.`
    })
  })
  const { baseUrl } = yield* Settings
  return {
    listPersons: Effect.fn("HostOperations.listPersons")(function* () {
      const lines = yield* Effect.forEach(yield* persons.list, (person) =>
        Effect.map(workspaces.ofPerson(person.id), (found) => {
          const roles = found.map(({ role, slug }) => `${slug} (${role})`).join(", ")
          const proof = person.emailVerifiedAt === null ? `  (address not proven; id ${person.id})` : ""
          return `${person.email}  ${person.name}  ${roles === "" ? "in no workspace" : roles}${proof}`
        })
      )
      return lines.join("\n")
    }),
    verifyPerson: Effect.fn("HostOperations.verifyPerson")(function* ({ email }: { readonly email: string }) {
      const found = yield* personNamed(email)
      const proven = storage.transaction(Effect.andThen(named.prove(found.id), audit.addressProven(found.id)))
      yield* Effect.mapError(asHost(proven), ({ message }) => new HostRefusal({ message }))
      return `The email address ${found.email} is proven to be that of ${found.name}.`
    }),
    createApiKey: Effect.fn("HostOperations.createApiKey")(function* (input: {
      readonly email: string
      readonly name: string
    }) {
      const found = yield* personNamed(input.email)
      const name = Schema.decodeUnknownOption(Name(100))(input.name)
      if (Option.isNone(name)) {
        return yield* new HostRefusal({ message: "--name must have 1 to 100 printable characters." })
      }
      const owner = { personId: found.id, workspaceId: null, role: null }
      const { secret } = yield* asHost(apiKeys.issue(owner, name.value))
      return `API key of ${found.name} <${found.email}>, shown only this once:\n\n${secret}`
    }),
    printSignInLink: Effect.fn("HostOperations.printSignInLink")(function* ({ who }: { readonly who: string }) {
      if (!keepsCookies(baseUrl)) return yield* new HostRefusal({ message: insecureBaseUrl.message })
      const person = yield* personNamed(who)
      const url = yield* asHost(links.print(person.id))
      return `${person.name} <${person.email}> signs in with this link, once, within an hour:\n\n${url}`
    }),
    rebuildCases: Effect.fn("HostOperations.rebuildCases")(function* () {
      const products = yield* counting.rebuild
      return `Counted the results of tests of ${products} ${products === 1 ? "product" : "products"} again.`
    })
  }
})

/** The operations, here or in another process, which may fail to answer (`E`). */
export interface HostOperations<E = never> {
  readonly listPersons: () => Effect.Effect<string, HostRefusal | E>
  readonly verifyPerson: (input: { readonly email: string }) => Effect.Effect<string, HostRefusal | E>
  readonly createApiKey: (input: {
    readonly email: string
    readonly name: string
  }) => Effect.Effect<string, HostRefusal | E>
  readonly printSignInLink: (input: { readonly who: string }) => Effect.Effect<string, HostRefusal | E>
  readonly rebuildCases: () => Effect.Effect<string, HostRefusal | E>
}

const nobody = (who: string) =>
  new HostRefusal({
    message: `There is no person with the email or id ${JSON.stringify(who)}. List all persons with \`person list\`.`
  })
