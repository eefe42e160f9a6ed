import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"

/** The commands on the data of a host. What they do is loaded when one runs: help and refusals need none of it. */

const loadPersons = Effect.promise(() => import("./Persons.ts"))
const loadFixtures = Effect.promise(() => import("./Fixtures.ts"))
const loadCases = Effect.promise(() => import("./Cases.ts"))
const loadBackups = Effect.promise(() => import("./Backups.ts"))
const loadVault = Effect.promise(() => import("./Vault.ts"))

const listPersons = Command.make("list", {}, () => Effect.flatMap(loadPersons, ({ list }) => list)).pipe(
  Command.withDescription("List every person with their email, name and workspaces")
)

const addressOrId = (of: string) =>
  Argument.String("email").pipe(Argument.withDescription(`The email address of ${of}, or their id`))

const verifyPerson = Command.make("verify", { email: addressOrId("the person") }, (options) =>
  Effect.flatMap(loadPersons, ({ verify }) => verify(options))
).pipe(
  Command.withDescription(
    "Say that an email address is this person's. An address is proven by one person; invites to it then join nobody else"
  )
)

/** `person`: who may use the service. */
export const person = Command.make("person").pipe(
  Command.withDescription("Show who can use this service"),
  Command.withSubcommands([listPersons, verifyPerson])
)

const createApiKey = Command.make(
  "create",
  {
    email: addressOrId("the person who gets the key"),
    name: Flag.String("name").pipe(
      Flag.withDefault("made on the host"),
      Flag.withDescription("A name for the key, 1 to 100 characters")
    )
  },
  (options) => Effect.flatMap(loadPersons, ({ createApiKey }) => createApiKey(options))
).pipe(
  Command.withDescription(
    "Create a new API key for a person, for example because the first one was lost. The limit of keys does not hold here"
  )
)

/** `api-key`: how the operator of the host gets access again. */
export const apiKey = Command.make("api-key").pipe(
  Command.withDescription("Manage the API keys of persons"),
  Command.withSubcommands([createApiKey])
)

/** `sign-in-link`: recovery that needs no mail. */
export const signInLink = Command.make(
  "sign-in-link",
  {
    who: Argument.String("email").pipe(
      Argument.withDescription("The email address of the person who is to sign in, or their id")
    )
  },
  ({ who }) => Effect.flatMap(loadPersons, ({ printSignInLink }) => printSignInLink(who))
).pipe(Command.withDescription("Print a link by which a person signs in with a browser, once, within an hour"))

const rotateSigningKey = Command.make("rotate", {}, () => Effect.flatMap(loadFixtures, ({ rotate }) => rotate)).pipe(
  Command.withDescription("Replace the key that signs fixture tokens. Tokens issued before stay valid")
)

export const fixtures = Command.make("fixtures").pipe(
  Command.withDescription("Manage the signing key of fixture tokens"),
  Command.withSubcommands([rotateSigningKey])
)

const rebuildCases = Command.make("rebuild", {}, () => Effect.flatMap(loadCases, ({ rebuild }) => rebuild)).pipe(
  Command.withDescription(
    "Count the results of all runs again, newest first. Servers can keep running: they show what was counted before until then"
  )
)

/** `cases`: what is counted of tests over many runs. */
export const cases = Command.make("cases").pipe(
  Command.withDescription("Manage what is counted of tests over many runs"),
  Command.withSubcommands([rebuildCases])
)

const vaultStatus = Command.make("status", {}, () => Effect.flatMap(loadVault, ({ status }) => status)).pipe(
  Command.withDescription("Show which keys of VAULT_KEYS the database needs")
)

const rotateVaultKeys = Command.make(
  "rotate",
  {
    dataKeys: Flag.Boolean("data-keys").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Replace the data key of every workspace too, and encrypt every value and webhook secret anew"
      )
    )
  },
  ({ dataKeys }) => Effect.flatMap(loadVault, ({ rotate, rotateDataKeys }) => (dataKeys ? rotateDataKeys : rotate))
).pipe(
  Command.withDescription(
    "Encrypt data keys and signing keys with the first key of VAULT_KEYS. Servers can keep running"
  )
)

/** `vault`: the keys of `VAULT_KEYS`. */
export const vault = Command.make("vault").pipe(
  Command.withDescription("Manage the keys that encrypt secrets. Settings are environment variables, as for serve"),
  Command.withSubcommands([rotateVaultKeys, vaultStatus])
)

const directory = (what: string) => Argument.String("directory").pipe(Argument.withDescription(what))

/** `backup`: a copy of the embedded database and of the stored files. */
export const backup = Command.make(
  "backup",
  { to: directory("A directory that is not there yet, best on another disk") },
  ({ to }) => Effect.flatMap(loadBackups, ({ backup }) => backup(to))
).pipe(
  Command.withDescription(
    "Copy the embedded database and the stored files to a new directory, while the server runs. Vault keys are not in it"
  )
)

/** `restore`: the way back. */
export const restore = Command.make("restore", { from: directory("What `backup` made") }, ({ from }) =>
  Effect.flatMap(loadBackups, ({ restore }) => restore(from))
).pipe(Command.withDescription("Put a back-up into an empty DATA_DIR, and check all of it"))

/** `verify`: whether all data is whole. */
export const verify = Command.make("verify", {}, () => Effect.flatMap(loadBackups, ({ verify }) => verify)).pipe(
  Command.withDescription(
    "Check every row, reference, count and stored file, and print what is wrong. Changes nothing. Servers can keep running"
  )
)
