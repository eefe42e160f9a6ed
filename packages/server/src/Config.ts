import { Email, Name, Slug } from "@delivery/domain/Text"
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import type { IpNetwork } from "effect/net"
import { type ProviderSettings, readProviders } from "./ProviderSettings.ts"
import { isToken } from "./ids/Tokens.ts"
import { mailFrom, mailServer, type MailSettings } from "./MailSettings.ts"
import {
  days,
  decoded,
  directory,
  integer,
  integers,
  isPlainElsewhere,
  isThisComputer,
  issuers,
  networks,
  oneOf,
  origin,
  origins,
  type RateLimit,
  rateLimit,
  type Read,
  type S3Location,
  s3Location,
  text,
  url,
  type VaultKeys,
  vaultKeys
} from "./SettingValues.ts"

export type { RateLimit, S3Location, VaultKey, VaultKeys } from "./SettingValues.ts"

/** The version of the service. */
export const version = "1.0.0"

/** An invalid setting. The message is one line, names the variable and says what it expects; it never repeats the value. */
export class SettingsError extends Data.TaggedError("SettingsError")<{ readonly message: string }> {}

/** Where the vault keys are. What a file or a command has is read when the keyring is made. */
export type VaultKeysSource =
  | { readonly _tag: "Given"; readonly keys: VaultKeys }
  | { readonly _tag: "File"; readonly path: string }
  | { readonly _tag: "Command"; readonly command: Redacted.Redacted }

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "none"

/** The settings of a server (docs/contract.md, Running the server). */
export class Settings extends Context.Service<
  Settings,
  {
    readonly port: number
    readonly host: string
    /** The public address, without a slash at its end. */
    readonly baseUrl: string
    /** The address of the same server where it shows what others wrote. Absent: nowhere. */
    readonly filesOrigin: Option.Option<string>
    /** Absent: the embedded database in `dataDir`. */
    readonly databaseUrl: Option.Option<Redacted.Redacted>
    readonly databasePool: number
    readonly dataDir: string
    /** Absent: `dataDir`/files. */
    readonly filesUrl: Option.Option<S3Location>
    /** Absent: made once in `dataDir`. The first is active. */
    readonly vaultKeys: Option.Option<VaultKeysSource>
    readonly bootstrap: {
      readonly workspace: string
      readonly ownerEmail: string
      readonly ownerName: string
      readonly apiKey: Option.Option<Redacted.Redacted>
    }
    /** Who may create workspaces: every person, or those who own one. */
    readonly workspaceCreation: "anyone" | "owners"
    /** How many requests one caller may send in so many seconds. Absent: no limit. */
    readonly rateLimit: Option.Option<RateLimit>
    /** Whose pages may call the service from browsers, without cookies. */
    readonly corsOrigins: ReadonlyArray<string>
    /** Networks whose word about the address of a client is taken. */
    readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
    readonly sessions: {
      /** Milliseconds without use after which a session ends. */
      readonly idleMillis: number
      /** Milliseconds after which a session ends, however it is used. */
      readonly maxMillis: number
      /** Milliseconds for which the proof of a session is fresh. */
      readonly sudoMillis: number
    }
    /** How many requests with a credential that is not valid an address may send in so many seconds. */
    readonly authFailureLimit: RateLimit
    /** How many tokens an address may report in an hour. */
    readonly tokenReportLimit: number
    /** Absent: the server sends no mail. */
    readonly mail: Option.Option<MailSettings>
    /** Milliseconds for which what was mailed can be used. */
    readonly mailedProofMillis: number
    /** How many days the audit is kept. */
    readonly auditDays: number
    /** How many days runs and files of runs are kept, unless their workspace says it. Absent: for ever. */
    readonly retention: { readonly runDays: Option.Option<number>; readonly fileDays: Option.Option<number> }
    readonly oauth: {
      /** Milliseconds for which a code can be exchanged. */
      readonly codeMillis: number
      /** Milliseconds after its first use for which a refresh token of a sign-in by the server's URL works. */
      readonly refreshGraceMillis: number
      /** Whose documents describe clients: those that are built in, or also any that the public internet has. */
      readonly clientDocuments: "known" | "public"
    }
    readonly webhooks: {
      /** Milliseconds before each try of a delivery but the first. */
      readonly retryMillis: ReadonlyArray<number>
      /** Whether they may have addresses that are not public, and http. */
      readonly isPrivateAllowed: boolean
    }
    /** By whom people sign in beside the service itself. */
    readonly providers: ReadonlyArray<ProviderSettings>
    /** Beside GitHub and GitLab, whose tokens of CI are taken. */
    readonly ciIssuers: ReadonlyArray<string>
    readonly semaphoreLeaseMillis: number
    readonly runLimitMillis: number
    /** Milliseconds that a request may take, without its waits for its client, a lease or a message. */
    readonly requestLimitMillis: number
    readonly logLevel: LogLevel
    readonly logFormat: "pretty" | "json"
    /** A collector for spans that speaks OTLP over HTTP. Absent: no spans are sent. */
    readonly otlpUrl: Option.Option<string>
    /** Whether the server answers `/metrics`. */
    readonly metrics: boolean
    /** Whether the server builds and serves the website, or another process does at the same address. */
    readonly website: "true" | "false" | "elsewhere"
    /** Processes that serve behind the port. */
    readonly workers: number
  }
>()("@delivery/server/Settings") {
  /** Reads the settings from environment variables. */
  static readonly layer = (environment: Readonly<Record<string, string | undefined>>) =>
    Layer.effect(Settings, Effect.map(readSettings(environment), Settings.of))
}

type Environment = Readonly<Record<string, string | undefined>>

const optional = <A>(
  environment: Environment,
  name: string,
  read: Read<A>,
  expected: string
): Effect.Effect<Option.Option<A>, SettingsError> => {
  const value = environment[name]
  if (value === undefined || value === "") return Effect.succeedNone
  const found = read(value)
  return found === undefined
    ? Effect.fail(new SettingsError({ message: `${name} is invalid: expected ${expected}.` }))
    : Effect.succeedSome(found)
}

const withDefault = <A>(environment: Environment, name: string, read: Read<A>, expected: string, otherwise: A) =>
  Effect.map(
    optional(environment, name, read, expected),
    Option.getOrElse(() => otherwise)
  )

const readSettings = Effect.fnUntraced(function* (environment: Environment) {
  const address = yield* readAddress(environment)
  const storage = yield* readStorage(environment)
  const workers = yield* withDefault(environment, "WORKERS", integer(1, 256), "a number from 1 to 256", 1)
  if (workers > 1 && Option.isNone(storage.databaseUrl)) {
    return yield* new SettingsError({
      message: "WORKERS is invalid: more than one worker needs PostgreSQL. Set DATABASE_URL, or leave WORKERS at 1."
    })
  }
  return {
    ...address,
    ...storage,
    bootstrap: yield* readBootstrap(environment),
    workspaceCreation: yield* withDefault<"anyone" | "owners">(
      environment,
      "WORKSPACE_CREATION",
      oneOf("anyone", "owners"),
      "anyone or owners",
      "anyone"
    ),
    ...(yield* readLimits(environment)),
    ...(yield* readSignIn(environment)),
    ciIssuers: yield* withDefault(
      environment,
      "CI_ISSUERS",
      issuers(address.baseUrl),
      "comma-separated https issuers, such as https://gitlab.example.com; http on this computer only where BASE_URL is on it, too",
      []
    ),
    mail: yield* readMail(environment),
    oauth: yield* readOAuth(environment),
    webhooks: yield* readWebhooks(environment),
    ...(yield* readTelemetry(environment)),
    website: yield* withDefault(
      environment,
      "WEBSITE",
      oneOf("true", "false", "elsewhere"),
      "true, false or elsewhere",
      "true"
    ),
    workers
  }
})

const readAddress = Effect.fnUntraced(function* (environment: Environment) {
  const port = yield* withDefault(environment, "PORT", integer(0, 65_535), "a port from 0 to 65535", 4000)
  const baseUrl = yield* withDefault(
    environment,
    "BASE_URL",
    origin,
    "one http(s) URL of a host, without user, path, query and fragment",
    `http://localhost:${port}`
  )
  return {
    port,
    host: yield* withDefault(environment, "HOST", text, "a host name or address", "127.0.0.1"),
    baseUrl,
    filesOrigin: yield* readFilesOrigin(environment, baseUrl)
  }
})

const readFilesOrigin = Effect.fnUntraced(function* (environment: Environment, baseUrl: string) {
  const own = new URL(baseUrl)
  const found = yield* optional<string | false>(
    environment,
    "FILES_ORIGIN",
    (text) => (text === "false" ? false : origin(text)),
    "one http(s) URL of a host, without user, path, query and fragment, or false"
  )
  if (Option.isNone(found)) return defaultFilesOrigin(own)
  if (found.value === false) return Option.none<string>()
  const { hostname, origin: filesOrigin, protocol } = new URL(found.value)
  // Cookies know no ports.
  if (hostname === own.hostname) {
    return yield* new SettingsError({
      message: "FILES_ORIGIN is invalid: expected another host than that of BASE_URL, whose cookies it would get."
    })
  }
  if (protocol === "http:" && !isThisComputer(hostname)) {
    return yield* new SettingsError({
      message:
        "FILES_ORIGIN is invalid: expected https, without which browsers run no trace viewer but on this computer."
    })
  }
  return Option.some(filesOrigin)
})

/** On a machine of one's own, where browsers take all names below `localhost` for it. */
const defaultFilesOrigin = ({ hostname, port, protocol }: URL): Option.Option<string> =>
  protocol === "http:" && isThisComputer(hostname) && hostname !== "files.localhost"
    ? Option.some(new URL(`http://files.localhost:${port}`).origin)
    : Option.none()

/** What `VAULT_KEYS`, its file and the output of its command are. */
export const expectedVaultKeys = "comma-separated keys, each as id:base64-of-32-bytes with an id of its own"

/** Empty, they are secrets or addresses that did not arrive: without them, data would be elsewhere. */
const neverEmpty = ["DATABASE_URL", "FILES_URL"]

const readStorage = Effect.fnUntraced(function* (environment: Environment) {
  for (const name of neverEmpty) {
    if (environment[name] === "") {
      return yield* new SettingsError({ message: `${name} is empty: set it, or remove it to store data in DATA_DIR.` })
    }
  }
  const databaseUrl = yield* readDatabaseUrl(environment)
  const keys = yield* readVaultKeys(environment)
  if (Option.isSome(databaseUrl) && Option.isNone(keys)) {
    return yield* new SettingsError({
      message:
        "VAULT_KEYS is missing. With DATABASE_URL, set the same keys for every server of the database, " +
        "for example VAULT_KEYS=k1:$(openssl rand -base64 32), or where they are: VAULT_KEYS_FILE or VAULT_KEYS_COMMAND."
    })
  }
  return {
    databaseUrl: Option.map(databaseUrl, Redacted.make),
    databasePool: yield* withDefault(environment, "DATABASE_POOL", integer(1, 1000), "a number from 1 to 1000", 10),
    dataDir: yield* withDefault(
      environment,
      "DATA_DIR",
      directory,
      "a directory that can hold files, not one below /proc or /sys",
      ".data"
    ),
    filesUrl: yield* optional(
      environment,
      "FILES_URL",
      s3Location,
      "a URL such as s3://bucket/prefix?endpoint=https://...&region=..."
    ),
    vaultKeys: keys
  }
})

const readDatabaseUrl = Effect.fnUntraced(function* (environment: Environment) {
  const databaseUrl = yield* optional(
    environment,
    "DATABASE_URL",
    url("postgres:", "postgresql:"),
    "a URL such as postgres://user:password@host:5432/database"
  )
  const isPlaintext = yield* withDefault(
    environment,
    "DATABASE_PLAINTEXT",
    oneOf("true", "false"),
    "true or false",
    "false"
  )
  if (isPlaintext === "false" && Option.exists(databaseUrl, isPlainElsewhere)) {
    return yield* new SettingsError({
      message:
        "DATABASE_URL has no TLS: passwords and data would cross the network in the clear. " +
        "Add sslmode=require to it, or set DATABASE_PLAINTEXT=true if nobody else can listen on that network."
    })
  }
  return databaseUrl
})

const readVaultKeys = Effect.fnUntraced(function* (environment: Environment) {
  const keys = yield* optional(environment, "VAULT_KEYS", vaultKeys, expectedVaultKeys)
  const file = yield* optional(environment, "VAULT_KEYS_FILE", text, "the path of a file")
  const command = yield* optional(environment, "VAULT_KEYS_COMMAND", text, "a command")
  const sources = [
    Option.map(keys, (keys): VaultKeysSource => ({ _tag: "Given", keys })),
    Option.map(file, (path): VaultKeysSource => ({ _tag: "File", path })),
    Option.map(command, (command): VaultKeysSource => ({ _tag: "Command", command: Redacted.make(command) }))
  ].filter(Option.isSome)
  if (sources.length > 1) {
    return yield* new SettingsError({
      message:
        "VAULT_KEYS, VAULT_KEYS_FILE and VAULT_KEYS_COMMAND say the same thing: set one of them and remove the others."
    })
  }
  return sources[0] ?? Option.none()
})

const readBootstrap = Effect.fnUntraced(function* (environment: Environment) {
  const apiKey = yield* optional(
    environment,
    "BOOTSTRAP_API_KEY",
    (text) => (isToken("ctk_", text) ? text : undefined),
    "a complete API key: ctk_ and 42 characters, of which the last 6 are the checksum"
  )
  return {
    workspace: yield* withDefault(
      environment,
      "BOOTSTRAP_WORKSPACE",
      decoded(Slug),
      "a slug: lowercase letters, digits and single hyphens between them, at most 60 characters",
      "main"
    ),
    ownerEmail: yield* withDefault(
      environment,
      "BOOTSTRAP_OWNER_EMAIL",
      decoded(Email),
      "an email address",
      "owner@example.com"
    ),
    ownerName: yield* withDefault(
      environment,
      "BOOTSTRAP_OWNER_NAME",
      decoded(Name(100)),
      "a name of 1 to 100 characters",
      "Owner"
    ),
    apiKey: Option.map(apiKey, Redacted.make)
  }
})

const expectedDays = "a number of days above 0 and up to 36500, such as 90 or 0.5"

const readLimits = Effect.fnUntraced(function* (environment: Environment) {
  const millis = (name: string, maximum: number, otherwise: number) =>
    withDefault(environment, name, integer(100, maximum), `milliseconds from 100 to ${maximum}`, otherwise)
  return {
    rateLimit: yield* optional(environment, "RATE_LIMIT", rateLimit, "requests/seconds, such as 600/60"),
    auditDays: yield* withDefault(
      environment,
      "AUDIT_DAYS",
      integer(1, 36_500),
      "a number of days from 1 to 36500",
      400
    ),
    retention: {
      runDays: yield* optional(environment, "RUN_DAYS", days, expectedDays),
      fileDays: yield* optional(environment, "FILE_DAYS", days, expectedDays)
    },
    tokenReportLimit: yield* withDefault(
      environment,
      "TOKEN_REPORT_LIMIT",
      integer(1, 1_000_000),
      "a whole number from 1 to 1000000",
      20
    ),
    authFailureLimit: yield* withDefault(
      environment,
      "AUTH_FAILURE_LIMIT",
      rateLimit,
      "requests/seconds, such as 60/60",
      { requests: 60, seconds: 60 }
    ),
    semaphoreLeaseMillis: yield* millis("SEMAPHORE_LEASE_MS", 300_000, 60_000),
    runLimitMillis: yield* millis("RUN_LIMIT_MS", 2_000_000_000, 21_600_000),
    requestLimitMillis: yield* millis("REQUEST_LIMIT_MS", 2_000_000_000, 120_000)
  }
})

const readSignIn = Effect.fnUntraced(function* (environment: Environment) {
  const millis = (name: string, otherwise: number) =>
    withDefault(environment, name, integer(100, 31_536_000_000), "milliseconds from 100 to 31536000000", otherwise)
  return {
    corsOrigins: yield* withDefault(
      environment,
      "CORS_ORIGINS",
      origins,
      "comma-separated origins, such as https://app.example.com,http://localhost:5173",
      []
    ),
    trustedProxies: yield* withDefault(
      environment,
      "TRUSTED_PROXIES",
      networks,
      "comma-separated networks, such as 10.0.0.0/8,fd00::/8",
      []
    ),
    sessions: {
      idleMillis: yield* millis("SESSION_IDLE_MS", 604_800_000),
      maxMillis: yield* millis("SESSION_MAX_MS", 2_592_000_000),
      sudoMillis: yield* millis("SUDO_MS", 900_000)
    },
    mailedProofMillis: yield* millis("SIGN_IN_MAIL_MS", 900_000),
    providers: yield* Effect.mapError(
      Effect.fromResult(readProviders(environment)),
      ({ expected, name }) => new SettingsError({ message: `${name} is invalid: expected ${expected}.` })
    )
  }
})

const readMail = Effect.fnUntraced(function* (environment: Environment) {
  const server = yield* optional(
    environment,
    "SMTP_URL",
    mailServer,
    "a URL such as smtps://user:password@mail.example.com, of whose options requireTLS, ignoreTLS and tls.rejectUnauthorized are known"
  )
  const from = yield* optional(
    environment,
    "MAIL_FROM",
    mailFrom,
    "an email address, such as delivery@example.com or Delivery <delivery@example.com>"
  )
  if (Option.isSome(server) && Option.isNone(from)) {
    return yield* new SettingsError({
      message: "MAIL_FROM is missing. With SMTP_URL, set the address that mails are from."
    })
  }
  if (Option.isNone(server) && Option.isSome(from)) {
    return yield* new SettingsError({ message: "SMTP_URL is missing. With MAIL_FROM, set the server that sends mail." })
  }
  return Option.map(server, (server): MailSettings => ({ ...server, from: Option.getOrThrow(from) }))
})

const readOAuth = Effect.fnUntraced(function* (environment: Environment) {
  const millis = (name: string, maximum: number, otherwise: number) =>
    withDefault(environment, name, integer(100, maximum), `milliseconds from 100 to ${maximum}`, otherwise)
  return {
    codeMillis: yield* millis("OAUTH_CODE_MS", 600_000, 60_000),
    refreshGraceMillis: yield* millis("OAUTH_REFRESH_GRACE_MS", 86_400_000, 3_600_000),
    clientDocuments: yield* withDefault<"known" | "public">(
      environment,
      "OAUTH_CLIENT_DOCUMENTS",
      oneOf("known", "public"),
      "known or public",
      "known"
    )
  }
})

const readWebhooks = Effect.fnUntraced(function* (environment: Environment) {
  const isPrivate = yield* withDefault(environment, "WEBHOOK_PRIVATE", oneOf("true", "false"), "true or false", "false")
  return {
    retryMillis: yield* withDefault<ReadonlyArray<number>>(
      environment,
      "WEBHOOK_RETRY_MS",
      integers(1, 20, 2_000_000_000),
      "1 to 20 comma-separated numbers of milliseconds up to 2000000000",
      [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 54_000_000]
    ),
    isPrivateAllowed: isPrivate === "true"
  }
})

const readTelemetry = Effect.fnUntraced(function* (environment: Environment) {
  const metrics = yield* withDefault(environment, "METRICS", oneOf("true", "false"), "true or false", "false")
  return {
    logLevel: yield* withDefault<LogLevel>(
      environment,
      "LOG_LEVEL",
      oneOf("trace", "debug", "info", "warn", "error", "none"),
      "trace, debug, info, warn, error or none",
      "info"
    ),
    logFormat: yield* withDefault<"pretty" | "json">(
      environment,
      "LOG_FORMAT",
      oneOf("pretty", "json"),
      "pretty or json",
      process.stdout.isTTY ? "pretty" : "json"
    ),
    otlpUrl: yield* optional(environment, "OTLP_URL", url("http:", "https:"), "an http(s) URL"),
    metrics: metrics === "true"
  }
})
