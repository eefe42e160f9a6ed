import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { Settings, type SettingsError } from "../src/Config.ts"

type Environment = Readonly<Record<string, string | undefined>>

const read = (environment: Environment): Effect.Effect<Settings["Service"], SettingsError> =>
  Effect.provide(Settings, Settings.layer(environment), { local: true })

const failure = (environment: Environment) => Effect.map(Effect.flip(read(environment)), (error) => error.message)

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64")
const vaultKeys = `k1:${key(1)}`
/** A whole one: its checksum is right. */
const apiKey = "ctk_0000000000000000000000000000000000002WEcig"

/** Settings as plain data: secrets and options opened. */
const plain = ({
  bootstrap,
  databaseUrl,
  filesOrigin,
  filesUrl,
  mail,
  otlpUrl,
  providers,
  rateLimit,
  retention,
  vaultKeys,
  ...rest
}: Settings["Service"]) => ({
  ...rest,
  mail: Option.getOrNull(
    Option.map(mail, ({ login, ...server }) => ({
      ...server,
      login: Option.getOrNull(Option.map(login, ({ password, user }) => ({ user, password: Redacted.value(password) })))
    }))
  ),
  providers: providers.map((provider) => ({ ...provider, clientSecret: Redacted.value(provider.clientSecret) })),
  databaseUrl: Option.getOrNull(Option.map(databaseUrl, Redacted.value)),
  filesOrigin: Option.getOrNull(filesOrigin),
  filesUrl: Option.getOrNull(filesUrl),
  otlpUrl: Option.getOrNull(otlpUrl),
  rateLimit: Option.getOrNull(rateLimit),
  retention: { runDays: Option.getOrNull(retention.runDays), fileDays: Option.getOrNull(retention.fileDays) },
  vaultKeys: Option.getOrNull(
    Option.map(vaultKeys, (source) =>
      source._tag === "Given"
        ? source.keys.map(({ bytes, id }) => [id, Buffer.from(Redacted.value(bytes)).toString("base64")])
        : source._tag === "File"
          ? { file: source.path }
          : { command: Redacted.value(source.command) }
    )
  ),
  bootstrap: { ...bootstrap, apiKey: Option.getOrNull(Option.map(bootstrap.apiKey, Redacted.value)) }
})

const defaults = {
  port: 4000,
  host: "127.0.0.1",
  baseUrl: "http://localhost:4000",
  filesOrigin: "http://files.localhost:4000",
  databaseUrl: null,
  databasePool: 10,
  dataDir: ".data",
  filesUrl: null,
  vaultKeys: null,
  bootstrap: { workspace: "main", ownerEmail: "owner@example.com", ownerName: "Owner", apiKey: null },
  workspaceCreation: "anyone",
  rateLimit: null,
  authFailureLimit: { requests: 60, seconds: 60 },
  tokenReportLimit: 20,
  ciIssuers: [],
  corsOrigins: [],
  trustedProxies: [],
  sessions: { idleMillis: 604_800_000, maxMillis: 2_592_000_000, sudoMillis: 900_000 },
  mail: null,
  mailedProofMillis: 900_000,
  auditDays: 400,
  retention: { runDays: null, fileDays: null },
  oauth: { codeMillis: 60_000, refreshGraceMillis: 3_600_000, clientDocuments: "known" },
  webhooks: {
    retryMillis: [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 54_000_000],
    isPrivateAllowed: false
  },
  providers: [],
  semaphoreLeaseMillis: 60_000,
  runLimitMillis: 6 * 3_600_000,
  requestLimitMillis: 120_000,
  logLevel: "info",
  logFormat: process.stdout.isTTY ? "pretty" : "json",
  otlpUrl: null,
  metrics: false,
  website: "true",
  workers: 1
}

const oidc = (id: string, issuer: string, clientSecret = "secret") => ({
  providers: [{ kind: "oidc", id, issuer, clientId: "id", clientSecret }]
})
const gitHub = (url: string) => ({
  providers: [{ kind: "github", id: "github", url, clientId: "id", clientSecret: "secret" }]
})

/** Each variable with values that are taken, and what they change. */
const good: Record<string, ReadonlyArray<readonly [value: string, change: Record<string, unknown>]>> = {
  PORT: [
    ["0", { port: 0, baseUrl: "http://localhost:0", filesOrigin: "http://files.localhost:0" }],
    ["8080", { port: 8080, baseUrl: "http://localhost:8080", filesOrigin: "http://files.localhost:8080" }],
    ["65535", { port: 65_535, baseUrl: "http://localhost:65535", filesOrigin: "http://files.localhost:65535" }]
  ],
  HOST: [
    ["0.0.0.0", { host: "0.0.0.0" }],
    ["::", { host: "::" }]
  ],
  BASE_URL: [
    ["https://delivery.example", { baseUrl: "https://delivery.example", filesOrigin: null }],
    ["https://localhost", { baseUrl: "https://localhost", filesOrigin: null }],
    ["http://10.0.0.1:4000", { baseUrl: "http://10.0.0.1:4000", filesOrigin: null }],
    ["http://127.0.0.1", { baseUrl: "http://127.0.0.1", filesOrigin: "http://files.localhost" }],
    ["http://files.localhost:5000", { baseUrl: "http://files.localhost:5000", filesOrigin: null }],
    ["http://localhost:5000//", { baseUrl: "http://localhost:5000", filesOrigin: "http://files.localhost:5000" }]
  ],
  FILES_ORIGIN: [
    ["https://files.example.com/", { filesOrigin: "https://files.example.com" }],
    ["https://FILES.example.com:443", { filesOrigin: "https://files.example.com" }],
    ["http://traces.localhost:4000", { filesOrigin: "http://traces.localhost:4000" }],
    ["false", { filesOrigin: null }]
  ],
  OIDC_CORP: [
    ["https://login.corp.example,id,secret", oidc("corp", "https://login.corp.example")],
    ["https://corp.example/realms/main/,id,a,b", oidc("corp", "https://corp.example/realms/main/", "a,b")],
    ["http://127.0.0.1:9000,id,secret", oidc("corp", "http://127.0.0.1:9000")],
    ["http://localhost:9000,id,secret", oidc("corp", "http://localhost:9000")]
  ],
  OIDC_A_2: [["https://a.example,id,secret", oidc("a_2", "https://a.example")]],
  GITHUB_OAUTH: [
    ["id,secret", gitHub("https://github.com")],
    ["id,secret,https://github.corp.example/", gitHub("https://github.corp.example")],
    ["id,secret,http://[::1]:3000", gitHub("http://[::1]:3000")]
  ],
  CI_ISSUERS: [
    ["https://gitlab.example.com", { ciIssuers: ["https://gitlab.example.com"] }],
    [
      "https://github.example.com/_services/token/, http://127.0.0.1:9000,http://localhost:9000/",
      { ciIssuers: ["https://github.example.com/_services/token", "http://127.0.0.1:9000", "http://localhost:9000"] }
    ]
  ],
  DATABASE_POOL: [
    ["1", { databasePool: 1 }],
    ["1000", { databasePool: 1000 }]
  ],
  DATA_DIR: [["/var/lib/delivery", { dataDir: "/var/lib/delivery" }]],
  FILES_URL: (
    [
      ["s3://bucket/prefix?endpoint=http://minio:9000&region=eu", "bucket", "prefix", "http://minio:9000", "eu"],
      ["s3://my.bucket-1/a/b_c.d/?region=eu-central-1", "my.bucket-1", "a/b_c.d", undefined, "eu-central-1"],
      ["s3://bucket", "bucket", "", undefined, undefined],
      ["s3://bucket/", "bucket", "", undefined, undefined],
      [
        "s3://bucket?region=auto&endpoint=https%3A%2F%2Fs3.example%2Fstorage%2Fv1%2Fs3",
        "bucket",
        "",
        "https://s3.example/storage/v1/s3",
        "auto"
      ]
    ] as const
  ).map(([value, bucket, prefix, endpoint, region]) => [value, { filesUrl: { bucket, prefix, endpoint, region } }]),
  VAULT_KEYS: [
    [vaultKeys, { vaultKeys: [["k1", key(1)]] }],
    [
      `new:${key(2)}, old.1_x-y:${key(255)}`,
      {
        vaultKeys: [
          ["new", key(2)],
          ["old.1_x-y", key(255)]
        ]
      }
    ]
  ],
  VAULT_KEYS_FILE: [["/run/secrets/vault", { vaultKeys: { file: "/run/secrets/vault" } }]],
  VAULT_KEYS_COMMAND: [["kms decrypt | base64 -d", { vaultKeys: { command: "kms decrypt | base64 -d" } }]],
  DATABASE_PLAINTEXT: [
    ["true", {}],
    ["false", {}]
  ],
  BOOTSTRAP_WORKSPACE: [["acme-2", { bootstrap: { ...defaults.bootstrap, workspace: "acme-2" } }]],
  BOOTSTRAP_OWNER_EMAIL: [
    [" Ana@Example.com", { bootstrap: { ...defaults.bootstrap, ownerEmail: "ana@example.com" } }]
  ],
  BOOTSTRAP_OWNER_NAME: [[" Ana Díaz ", { bootstrap: { ...defaults.bootstrap, ownerName: "Ana Díaz" } }]],
  BOOTSTRAP_API_KEY: [[apiKey, { bootstrap: { ...defaults.bootstrap, apiKey: apiKey } }]],
  WORKSPACE_CREATION: [["owners", { workspaceCreation: "owners" }]],
  RATE_LIMIT: [
    ["600/60", { rateLimit: { requests: 600, seconds: 60 } }],
    ["1/1", { rateLimit: { requests: 1, seconds: 1 } }],
    ["1000000/86400", { rateLimit: { requests: 1_000_000, seconds: 86_400 } }]
  ],
  SESSION_IDLE_MS: [["100", { sessions: { ...defaults.sessions, idleMillis: 100 } }]],
  SESSION_MAX_MS: [["31536000000", { sessions: { ...defaults.sessions, maxMillis: 31_536_000_000 } }]],
  SIGN_IN_MAIL_MS: [["60000", { mailedProofMillis: 60_000 }]],
  OAUTH_CODE_MS: [["30000", { oauth: { ...defaults.oauth, codeMillis: 30_000 } }]],
  OAUTH_REFRESH_GRACE_MS: [["60000", { oauth: { ...defaults.oauth, refreshGraceMillis: 60_000 } }]],
  OAUTH_CLIENT_DOCUMENTS: [
    ["known", {}],
    ["public", { oauth: { ...defaults.oauth, clientDocuments: "public" } }]
  ],
  SUDO_MS: [["60000", { sessions: { ...defaults.sessions, sudoMillis: 60_000 } }]],
  AUDIT_DAYS: [
    ["1", { auditDays: 1 }],
    ["36500", { auditDays: 36_500 }]
  ],
  RUN_DAYS: [
    ["90", { retention: { runDays: 90, fileDays: null } }],
    ["0.5", { retention: { runDays: 0.5, fileDays: null } }],
    ["36500", { retention: { runDays: 36_500, fileDays: null } }]
  ],
  FILE_DAYS: [
    ["14", { retention: { runDays: null, fileDays: 14 } }],
    ["0.000001", { retention: { runDays: null, fileDays: 0.000_001 } }]
  ],
  TOKEN_REPORT_LIMIT: [["1", { tokenReportLimit: 1 }]],
  AUTH_FAILURE_LIMIT: [["10/1", { authFailureLimit: { requests: 10, seconds: 1 } }]],
  SEMAPHORE_LEASE_MS: [
    ["100", { semaphoreLeaseMillis: 100 }],
    ["300000", { semaphoreLeaseMillis: 300_000 }]
  ],
  RUN_LIMIT_MS: [
    ["100", { runLimitMillis: 100 }],
    ["2000000000", { runLimitMillis: 2_000_000_000 }]
  ],
  REQUEST_LIMIT_MS: [
    ["100", { requestLimitMillis: 100 }],
    ["2000000000", { requestLimitMillis: 2_000_000_000 }]
  ],
  LOG_LEVEL: ["trace", "debug", "info", "warn", "error", "none"].map((level) => [level, { logLevel: level }]),
  LOG_FORMAT: ["pretty", "json"].map((format) => [format, { logFormat: format }]),
  OTLP_URL: [["http://collector:4318/", { otlpUrl: "http://collector:4318" }]],
  METRICS: [
    ["true", { metrics: true }],
    ["false", { metrics: false }]
  ],
  WORKERS: [["1", { workers: 1 }]]
}

const long = "x".repeat(101)
const bad: Record<string, ReadonlyArray<string>> = {
  PORT: ["-1", "65536", "80.5", "http", "0x50", " 80", "1e3"],
  BASE_URL: [
    "delivery.example",
    "ftp://delivery.example",
    "//delivery.example",
    "https://",
    "javascript:alert(1)",
    "https://a.example ",
    "https://a.\nexample",
    "https://user:hunter2@a.example",
    "https://user@a.example",
    "https://a.example/?q=1",
    "https://a.example?",
    "https://a.example/#a",
    "https://a.example/delivery",
    "https://a.example,https://b.example",
    "https://a.example,b.example"
  ],
  FILES_ORIGIN: [
    "files.example.com",
    "https://files.example.com/traces",
    "https://files.example.com,https://b.example",
    "https://user:hunter2@files.example.com",
    // Its cookies are those of all ports.
    "http://localhost:5000",
    "https://localhost",
    "http://files.example.com",
    "http://10.0.0.1:4000"
  ],
  DATABASE_URL: [
    "db.example",
    "mysql://user:hunter2@db.example/delivery",
    "user:hunter2@db.example",
    "postgres",
    "postgres://user:hunter2@db.example/delivery\n"
  ],
  DATABASE_POOL: ["0", "1001", "ten", "-5"],
  DATABASE_PLAINTEXT: ["yes", "1", "TRUE"],
  CI_ISSUERS: [
    "gitlab.example.com",
    "http://gitlab.example.com",
    "http://127.0.0.1.evil.example",
    "http://10.0.0.1",
    "https://user:hunter2@gitlab.example.com",
    "https://gitlab.example.com?a=b",
    "https://gitlab.example.com,",
    "https://gitlab.example.com;https://gitlab.com"
  ],
  OIDC_CORP: [
    "https://login.corp.example",
    "https://login.corp.example,id",
    "https://login.corp.example,id,",
    "https://login.corp.example,,hunter2",
    "http://login.corp.example,id,hunter2",
    "http://127.0.0.1.evil.example,id,hunter2",
    "https://user:hunter2@corp.example,id,hunter2",
    "https://corp.example?a=b,id,hunter2",
    "https://corp.example#a,id,hunter2",
    "https://corp.example/ a,id,hunter2",
    "corp.example,id,hunter2",
    "https://corp.example,id, hunter2"
  ],
  OIDC_GITHUB: ["https://github.com,id,hunter2"],
  OIDC_corp: ["https://corp.example,id,hunter2"],
  OIDC_: ["https://corp.example,id,hunter2"],
  GITHUB_OAUTH: [
    "id",
    "id,",
    ",hunter2",
    "id,hunter2,github.corp.example",
    "id,hunter2,http://github.corp.example",
    "id,hunter2,https://github.corp.example,more"
  ],
  FILES_URL: [
    "/var/files",
    "https://bucket",
    "file:///var/files",
    "s3://",
    "s3:///prefix",
    "s3://bu",
    "s3://Bucket",
    "s3://bucket:9000/prefix",
    "s3://key:hunter2@bucket/prefix",
    "s3://bucket/a b",
    "s3://bucket//a",
    "s3://bucket/a//b",
    "s3://bucket/../a",
    "s3://bucket/a#b",
    "s3://bucket/a?endpoint=",
    "s3://bucket/a?endpoint=minio:9000",
    "s3://bucket/a?endpoint=http://key:hunter2@minio:9000",
    "s3://bucket/a?endpoint=http://minio:9000/?x=1",
    "s3://bucket/a?endpoint=http://minio:9000&endpoint=http://other:9000",
    "s3://bucket/a?region=",
    "s3://bucket/a?region=EU West",
    "s3://bucket/a?acces_key=hunter2"
  ],
  VAULT_KEYS: [
    "hunter2",
    key(1),
    `k1:${key(1).slice(0, -1)}`,
    `k1:${Buffer.alloc(31, 1).toString("base64")}`,
    `k1:${Buffer.alloc(33, 1).toString("base64")}`,
    `k1:${key(1)},k1:${key(2)}`,
    `k1:${key(1)},`,
    `:${key(1)}`,
    `k 1:${key(1)}`,
    `k1:${key(1)};k2:${key(2)}`
  ],
  CORS_ORIGINS: [
    "*",
    "null",
    "app.example.com",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://App.example.com",
    "https://app.example.com:443",
    "https://app.example.com,",
    "ftp://app.example.com"
  ],
  TRUSTED_PROXIES: ["proxy", "10.0.0.0/33", "10.0.0.0/8;fd00::/8", "10.0.0.0/8,"],
  SESSION_IDLE_MS: ["99", "31536000001", "7d"],
  SESSION_MAX_MS: ["0"],
  OAUTH_CODE_MS: ["99", "600001", "1m"],
  OAUTH_REFRESH_GRACE_MS: ["99", "86400001", "1h"],
  OAUTH_CLIENT_DOCUMENTS: ["all", "PUBLIC"],
  SUDO_MS: ["-1"],
  SIGN_IN_MAIL_MS: ["99", "15min"],
  SMTP_URL: [
    "mail.example.com",
    "https://mail.example.com",
    "smtp://",
    "smtp://mail.example.com/path",
    "smtp://mail.example.com#x",
    "smtp://mail.example.com:70000",
    "smtp://user:hunter2@mail.example.com?debug=true",
    "smtp://user:hunter2@mail.example.com?requireTLS=1",
    "smtp://user:%hunter2@mail.example.com",
    " smtp://mail.example.com",
    "smtp://mail.example.com\n"
  ],
  MAIL_FROM: [
    "delivery",
    "a@example.com, b@example.com",
    "Delivery <delivery@example.com",
    "Delivery <a@example.com> <b@example.com>",
    "Delivery\r\nBcc: b@example.com <a@example.com>",
    "<>"
  ],
  BOOTSTRAP_WORKSPACE: ["Main", "a b", "-a", "a--b", long, "0197a1b2-0000-7000-8000-00000000000a"],
  BOOTSTRAP_OWNER_EMAIL: ["owner", "@example.com", "a b@example.com", "owner@", `${"x".repeat(251)}@a.b`],
  BOOTSTRAP_OWNER_NAME: [" ", long, "Ana\nDiaz", "\ud800"],
  BOOTSTRAP_API_KEY: [
    "hunter2",
    "ctk_hunter2",
    `${apiKey.slice(0, -1)}h`,
    apiKey.replace("ctk_", "itk_"),
    ` ${apiKey}`
  ],
  WORKSPACE_CREATION: ["everyone", "Owners", "owner", " owners"],
  RATE_LIMIT: ["600", "600/", "/60", "0/60", "600/0", "600/60/1", "600 / 60", "1e3/60", "1000001/1", "1/86401", "off"],
  RUN_DAYS: ["0", "0.0", "36500.1", "-1", "1e3", "7d", ".5", "1."],
  FILE_DAYS: ["0", "40000", "NaN", "Infinity"],
  AUDIT_DAYS: ["0", "36501", "400d", "-1"],
  TOKEN_REPORT_LIMIT: ["0", "20/60", "1000001", "off"],
  AUTH_FAILURE_LIMIT: ["60", "0/60", "off"],
  SEMAPHORE_LEASE_MS: ["99", "300001", "1 minute", "-100", "1.5"],
  RUN_LIMIT_MS: ["99", "2000000001", "6h", "0"],
  REQUEST_LIMIT_MS: ["99", "2000000001", "2m", "0"],
  LOG_LEVEL: ["verbose", "INFO", "all"],
  LOG_FORMAT: ["xml", "JSON"],
  OTLP_URL: ["collector:4318", "grpc://collector", "/v1/traces", " http://collector:4318"],
  METRICS: ["1", "yes", "TRUE", "on"],
  WORKERS: ["0", "257", "-1", "two", "1.5"]
}

describe("Settings", () => {
  it.effect("are the documented defaults where nothing is set, or set to nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(plain(yield* read({})), defaults as never)
      // Those two say where data is: empty, they are refused.
      const {
        DATABASE_URL: _,
        FILES_URL: __,
        ...empty
      } = Object.fromEntries(Object.keys({ ...good, ...bad }).map((name) => [name, ""]))
      assert.deepStrictEqual(plain(yield* read(empty)), defaults as never)
    })
  )

  for (const [name, values] of Object.entries(good)) {
    it.effect(`take ${name} and leave the rest`, () =>
      Effect.gen(function* () {
        for (const [value, change] of values) {
          assert.deepStrictEqual(plain(yield* read({ [name]: value })), { ...defaults, ...change } as never, value)
        }
      })
    )
  }

  it.effect.each(["postgres", "postgresql"])("take a %s URL of a database together with vault keys", (protocol) =>
    Effect.gen(function* () {
      const url = `${protocol}://user:p%40ss@db.example:5432/delivery?sslmode=require`
      const settings = yield* read({ DATABASE_URL: url, VAULT_KEYS: vaultKeys })
      assert.deepStrictEqual(plain(settings), {
        ...defaults,
        databaseUrl: url,
        vaultKeys: [["k1", key(1)]]
      } as never)
      // What is logged of them by accident says nothing.
      assert.notInclude(JSON.stringify(settings), "p%40ss")
      assert.notInclude(JSON.stringify(settings), key(1))
    })
  )

  for (const [name, values] of Object.entries(bad)) {
    it.effect(`refuse a wrong ${name}, name it and repeat no secret`, () =>
      Effect.gen(function* () {
        for (const value of values) {
          const message = yield* failure({ [name]: value }).pipe(Effect.catch(() => Effect.succeed(`took ${value}`)))
          assert.match(message, new RegExp(`^${name} is invalid: expected .+\\.$`))
          for (const secret of ["hunter2", key(1).slice(0, -1), apiKey.slice(4, -6)]) assert.notInclude(message, secret)
        }
      })
    )
  }

  it.effect("reject a database without vault keys, with the reason", () =>
    Effect.gen(function* () {
      const url = "postgres://user:hunter2@db.example/delivery?sslmode=require"
      for (const name of ["DATABASE_URL", "FILES_URL"]) {
        const message = `${name} is empty: set it, or remove it to store data in DATA_DIR.`
        assert.strictEqual(yield* failure({ [name]: "" }), message)
      }
      for (const environment of [{ DATABASE_URL: url }, { DATABASE_URL: url, VAULT_KEYS: "" }]) {
        const message = yield* failure(environment)
        assert.match(message, /^VAULT_KEYS is missing. With DATABASE_URL, [^\n]+$/)
        assert.notInclude(message, "hunter2")
      }
    })
  )

  it.effect("take a database of another computer by TLS alone, unless they say so", () =>
    Effect.gen(function* () {
      const given = { VAULT_KEYS: vaultKeys }
      const other = "postgres://user:hunter2@db.example/delivery"
      for (const DATABASE_URL of [
        "postgres://localhost/delivery",
        "postgres://user:hunter2@127.0.0.1:5433/delivery",
        "postgres://[::1]/delivery?sslmode=disable",
        "postgres:///delivery",
        "postgres://user@%2Fvar%2Frun%2Fpostgresql/delivery",
        "postgres:///delivery?host=/var/run/postgresql",
        "postgres://db.example/delivery?host=::1",
        `${other}?sslmode=require`,
        `${other}?sslmode=verify-ca`,
        `${other}?sslmode=verify-full`
      ]) {
        assert.isTrue(Option.isSome((yield* read({ ...given, DATABASE_URL })).databaseUrl), DATABASE_URL)
      }
      for (const DATABASE_URL of [
        other,
        "postgres://10.0.0.5/delivery",
        "postgres://[fd00::1]/delivery",
        "postgres://127.0.0.1.evil.example/delivery",
        "postgres://localhost,db.example/delivery",
        "postgres://localhost/delivery?host=db.example",
        "postgres://localhost/delivery?host=localhost&host=db.example",
        `${other}?sslmode=prefer`,
        `${other}?sslmode=allow`,
        `${other}?sslmode=disable`,
        `${other}?sslmode=require&sslmode=prefer`,
        `${other}?SSLMODE=require`
      ]) {
        // Not of the URL, so the client does not know it.
        const message = yield* failure({ ...given, DATABASE_URL, PGSSLMODE: "require" }).pipe(
          Effect.catch(() => Effect.succeed(`took ${DATABASE_URL}`))
        )
        assert.match(message, /^DATABASE_URL has no TLS: [^\n]+ sslmode=require [^\n]+ DATABASE_PLAINTEXT=true [^\n]+$/)
        assert.notInclude(message, "hunter2")
        const settings = yield* read({ ...given, DATABASE_URL, DATABASE_PLAINTEXT: "true" })
        assert.isTrue(Option.isSome(settings.databaseUrl))
      }
    })
  )

  it.effect("take the vault keys from one place", () =>
    Effect.gen(function* () {
      const places = { VAULT_KEYS: vaultKeys, VAULT_KEYS_FILE: "/run/keys", VAULT_KEYS_COMMAND: "print hunter2" }
      const names = Object.keys(places) as ReadonlyArray<keyof typeof places>
      for (const left of [undefined, ...names]) {
        const { message } = yield* Effect.flip(read({ ...places, ...(left === undefined ? {} : { [left]: "" }) }))
        assert.match(message, /^VAULT_KEYS, VAULT_KEYS_FILE and VAULT_KEYS_COMMAND [^\n]+ set one of them [^\n]+$/)
        assert.notInclude(message, "hunter2")
      }
      for (const name of names.slice(1)) {
        const settings = yield* read({ DATABASE_URL: "postgres://localhost/delivery", [name]: places[name] })
        assert.notInclude(JSON.stringify(settings), "hunter2")
      }
    })
  )

  it.effect("take a mail server with the address that mails are from", () =>
    Effect.gen(function* () {
      const MAIL_FROM = "Delivery@Example.com"
      const from = { name: "", address: "delivery@example.com" }
      const usual = {
        port: undefined,
        secure: false,
        requireTls: false,
        ignoreTls: false,
        checkCertificate: true,
        login: null
      }
      const login = { user: "us@er", password: "p:w" }
      const cases: ReadonlyArray<readonly [url: string, server: object]> = [
        ["smtp://mail.example.com", { ...usual, host: "mail.example.com" }],
        ["smtps://mail.example.com:4650/", { ...usual, host: "mail.example.com", port: 4650, secure: true }],
        ["smtp://127.0.0.1:25", { ...usual, host: "127.0.0.1", port: 25, checkCertificate: false }],
        ["smtp://[::1]:2525", { ...usual, host: "::1", port: 2525, checkCertificate: false }],
        ["smtp://us%40er:p%3Aw@mail.example.com", { ...usual, host: "mail.example.com", requireTls: true, login }],
        ["smtp://us%40er:p%3Aw@localhost", { ...usual, host: "localhost", checkCertificate: false, login }],
        [
          "smtp://us%40er:p%3Aw@mail?requireTLS=false&ignoreTLS=true&tls.rejectUnauthorized=false",
          { ...usual, host: "mail", ignoreTls: true, checkCertificate: false, login }
        ]
      ]
      for (const [SMTP_URL, server] of cases) {
        const settings = yield* read({ SMTP_URL, MAIL_FROM })
        assert.deepStrictEqual(plain(settings), { ...defaults, mail: { ...server, from } } as never, SMTP_URL)
        assert.notInclude(JSON.stringify(settings), "p:w")
      }
      const named = { name: "The Delivery", address: "a@example.com" }
      for (const MAIL_FROM of ["The Delivery <a@example.com>", ` "The Delivery"  <A@example.com> `]) {
        const { mail } = plain(yield* read({ SMTP_URL: "smtp://mail.example.com", MAIL_FROM }))
        assert.deepStrictEqual(mail?.from, named)
      }
      assert.strictEqual(
        yield* failure({ SMTP_URL: "smtp://mail.example.com" }),
        "MAIL_FROM is missing. With SMTP_URL, set the address that mails are from."
      )
      assert.strictEqual(
        yield* failure({ MAIL_FROM }),
        "SMTP_URL is missing. With MAIL_FROM, set the server that sends mail."
      )
    })
  )

  it.effect("take several workers with a database alone", () =>
    Effect.gen(function* () {
      assert.match(
        yield* failure({ WORKERS: "2" }),
        /^WORKERS is invalid: more than one worker needs PostgreSQL\. [^\n]+\.$/
      )
      const database = { DATABASE_URL: "postgres://localhost/delivery", VAULT_KEYS: vaultKeys }
      assert.strictEqual((yield* read({ ...database, WORKERS: "256" })).workers, 256)
    })
  )

  it.effect("take vault keys without a database", () =>
    Effect.gen(function* () {
      assert.isTrue(Option.isSome((yield* read({ VAULT_KEYS: vaultKeys })).vaultKeys))
    })
  )

  it.effect("format logs for people on a terminal, and for programs elsewhere", () =>
    Effect.gen(function* () {
      const { isTTY } = process.stdout
      yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(process.stdout, { isTTY })))
      for (const [terminal, format] of [
        [true, "pretty"],
        [false, "json"],
        [undefined, "json"]
      ] as const) {
        Object.assign(process.stdout, { isTTY: terminal })
        assert.strictEqual((yield* read({})).logFormat, format)
      }
    })
  )

  it.effect("are all in the table of docs/operations.md, and nothing else is", () =>
    Effect.gen(function* () {
      const names = new Set<string>()
      const environment = new Proxy<Record<string, string>>(
        {},
        {
          get: (_, name) => {
            names.add(String(name))
            return undefined
          }
        }
      )
      yield* read(environment)
      const docs = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8")
      const [, table = ""] = /## Settings\n[^|]*\n((?:\|.*\n)+)/.exec(docs) ?? []
      const documented = table.split("\n").flatMap((line) => {
        const [, variables = ""] = line.split("|")
        return [...variables.matchAll(/`([A-Z][A-Z0-9_]*)(?:<NAME>)?`/g)].map(([, name]) => name!)
      })
      // Any name may stand behind it.
      assert.deepStrictEqual(documented.toSorted(), [...names, "OIDC_"].toSorted())
    })
  )

  it.effect("ignore every other variable", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(plain(yield* read({ PATH: "/bin", port: "1", NODE_ENV: "test" })), defaults as never)
    })
  )
})
