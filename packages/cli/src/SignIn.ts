import type { ApiKey, Me } from "@delivery/client"
import { isServiceUrl } from "@delivery/domain/ServiceUrl"
import { Effect, Option, Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import { callAt } from "./Calls.ts"
import { givenToken } from "./DeploymentToken.ts"
import { Failure } from "./Failure.ts"
import { optionalText } from "./Flags.ts"
import { chosenOne, secretInput } from "./Input.ts"
import { hasBrowser } from "./OpenPage.ts"
import { note, oneLine, print, table } from "./Output.ts"
import { forgetProfile, keepProfile, type Profile, profileName, profilesFile, readProfiles } from "./Profiles.ts"
import {
  connectionFlags,
  defaultUrl,
  environment,
  plainUrl,
  ProfileFlag,
  type Settings,
  settings,
  type Sourced,
  UrlFlag,
  WorkspaceFlag
} from "./Settings.ts"

/** `delivery login`, `logout` and `status`. */

const whois = (me: Me): string => oneLine(me.kind === "user" ? `${me.name} <${me.email}>` : `the API key "${me.name}"`)

/** The workspace to store: the one that was asked for, or the only one, or the one that is chosen on a terminal. */
const workspaceOf = Effect.fnUntraced(function* (me: Me, asked: string | undefined) {
  const slugs = me.workspaces.map(({ slug }) => slug)
  if (asked !== undefined) {
    const found = me.workspaces.find(({ id, slug }) => slug === asked || id === asked)
    if (found !== undefined) return found.slug
    return yield* new Failure({ message: `The key cannot act in a workspace "${oneLine(asked)}".` })
  }
  if (slugs.length < 2) return slugs[0] ?? null
  const chosen = yield* chosenOne("Workspace", slugs)
  return chosen ?? (yield* Failure.usage(`Say which workspace with --workspace: ${slugs.join(", ")}.`))
})

const flagOr = Effect.fnUntraced(function* (flag: Option.Option<string>, variable: string) {
  return Option.getOrUndefined(Option.isSome(flag) ? flag : yield* environment(variable))
})

/** A key that was typed, or comes from standard input. */
const givenKey = Effect.fnUntraced(function* (url: string) {
  const apiKey = (yield* secretInput(`API key for ${url}`)).trim()
  if (!/^ctk_[0-9A-Za-z]+$/.test(apiKey)) {
    return yield* Failure.usage("An API key is needed on standard input. It begins with ctk_.")
  }
  return apiKey
})

/** Who the key acts as; undefined for one that may not read it. */
const holderOf = (url: string, apiKey: string) =>
  callAt({ url, apiKey }, (client) =>
    Effect.catchTag(client.me.get(), "Forbidden", (error) =>
      error.reason === "scope_missing" ? Effect.undefined : Effect.fail(error)
    )
  )

/** Ends a key that `login` had made. One that has ended already is no failure. */
const endKey = (url: string, apiKey: string, keyId: string) =>
  callAt({ url, apiKey }, (client) =>
    client.apiKeys.revoke({ params: { apiKeyId: keyId } }).pipe(
      Effect.catchTag("Unauthorized", () => Effect.void),
      // A key that may not write ends itself as whoever finds it does.
      Effect.catchTag("Forbidden", () => client.tokens.report({ payload: { token: apiKey } }))
    )
  )

/** The key of the profile that is replaced, if `login` had it made: nobody has it any more. */
const endReplaced = Effect.fnUntraced(function* ({ apiKey, keyId, url }: Profile) {
  if (keyId === undefined) return
  yield* Effect.catch(endKey(url, apiKey, keyId), ({ message }) =>
    note(`The key that this profile had before still works, since it could not be revoked. ${message}`)
  )
})

interface NewKey {
  readonly apiKey: string
  readonly keyId?: string
}

/** Stores the key as a profile. Answers what is to be told of it. */
const storeKey = Effect.fnUntraced(function* (name: string, url: string, { apiKey, keyId }: NewKey) {
  const asked = yield* flagOr(yield* WorkspaceFlag, "DELIVERY_WORKSPACE")
  const me = yield* holderOf(url, apiKey)
  const workspace = me === undefined ? (asked ?? null) : yield* workspaceOf(me, asked)
  const kept = { url, workspace, apiKey, ...(keyId === undefined ? {} : { keyId }) }
  const { file, replaced } = yield* keepProfile(name, kept)
  return { name, url, workspace, file, me: me ?? null, replaced }
})

const tellStored = Effect.fnUntraced(function* (stored: Effect.Success<ReturnType<typeof storeKey>>) {
  const { file, me, name, replaced, url, workspace } = stored
  if (replaced !== undefined) {
    yield* endReplaced(replaced)
    if (plainUrl(replaced.url) !== url) {
      yield* note(
        `The profile "${name}" was for ${replaced.url}, which is signed out. To keep both, name one of them with --profile.`
      )
    }
  }
  const as = me === null ? "" : ` as ${whois(me)}`
  yield* print(
    { profile: name, url, workspace, file, me },
    `Signed in to ${url}${as}${workspace === null ? "" : ` in the workspace ${workspace}`}.\nThe key is stored in ${file}, which only you can read.`
  )
})

const wayFlags = {
  browser: Flag.Boolean("browser").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Sign in with the browser of this computer. The default on a terminal, where there is one")
  ),
  device: Flag.Boolean("device").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Sign in with a browser on another computer. The default on a terminal without a browser")
  ),
  withKey: Flag.Boolean("with-key").pipe(
    Flag.withDefault(false),
    Flag.withDescription(
      "Read an API key, from standard input or typed. The default where standard input is no terminal"
    )
  )
}

/** How to sign in: as the flags say, else as standard input and the computer have it. */
const wayOf = Effect.fnUntraced(function* (flags: { [Way in keyof typeof wayFlags]: boolean }) {
  const [way, ...others] = (["browser", "device", "withKey"] as const).filter((name) => flags[name])
  if (others.length > 0) return yield* Failure.usage("--browser, --device and --with-key exclude each other.")
  const { stdinIsTerminal } = yield* Stdio.Stdio
  if (way !== undefined) return way
  if (!(yield* stdinIsTerminal)) return "withKey"
  return hasBrowser(process.env, process.platform) ? "browser" : "device"
})

/** Whoever calls the command must not take it for done where it was interrupted. */
const notDone = () => Effect.sync(() => void (process.exitCode = 130))

export const login = Command.make(
  "login",
  {
    ...wayFlags,
    scopes: optionalText(
      "scopes",
      "What the key may do: read, write, publish, vault, admin, separated by commas. Default: all"
    ),
    expires: Flag.Int("expires").pipe(
      Flag.filter(
        (days) => days >= 1 && days <= 730,
        () => "Expected 1 to 730 days"
      ),
      Flag.optional,
      Flag.withDescription("For how many days the key works. Default: 90")
    )
  },
  Effect.fnUntraced(function* ({ expires, scopes, ...flags }) {
    const name = yield* profileName((yield* flagOr(yield* ProfileFlag, "DELIVERY_PROFILE")) ?? "default")
    const url = plainUrl((yield* flagOr(yield* UrlFlag, "DELIVERY_URL")) ?? defaultUrl)
    if (!isServiceUrl(url)) {
      // One with a password is not repeated.
      const repeated = url.includes("@") ? "" : ` ${oneLine(url)}`
      const failure = Failure.noServiceUrl(`The address of the service${repeated}`)
      return yield* Failure.usage(`${failure.message} One is ${defaultUrl}.`)
    }
    const way = yield* wayOf(flags)
    const asked = { url, scopes: Option.getOrUndefined(scopes), days: Option.getOrUndefined(expires) }
    if (way === "withKey") {
      if (asked.scopes !== undefined || asked.days !== undefined) {
        return yield* Failure.usage("--scopes and --expires are for a key that is made by the sign-in.")
      }
      return yield* tellStored(yield* storeKey(name, url, { apiKey: yield* givenKey(url) }))
    }
    const { loginWithBrowser, loginWithCode } = yield* Effect.promise(() => import("./BrowserLogin.ts"))
    const waiting = way === "browser" ? loginWithBrowser(asked) : loginWithCode(asked)
    const stored = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.onInterrupt(restore(waiting), notDone), (made) =>
        // A key that is not stored is left to nobody.
        Effect.onError(restore(storeKey(name, url, { apiKey: made.secret, keyId: made.id })), () =>
          Effect.ignore(endKey(url, made.secret, made.id))
        )
      )
    )
    yield* tellStored(stored)
  })
).pipe(
  Command.withDescription(
    "Sign in through a browser, or with an API key from standard input, and store it as a profile"
  ),
  Command.withGlobalFlags(connectionFlags)
)

export const logout = Command.make(
  "logout",
  {
    keepKey: Flag.Boolean("keep-key").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Do not revoke the key that login has made")
    )
  },
  Effect.fnUntraced(function* ({ keepKey }) {
    const { hasProfile, keyProblem, profile } = yield* settings
    if (!hasProfile && profile.source === "--profile") return yield* Failure.usage(keyProblem!)
    const stored = hasProfile ? (yield* readProfiles).profiles[profile.value] : undefined
    const isEnded = stored?.keyId !== undefined && !keepKey
    if (isEnded) {
      yield* Effect.mapError(
        endKey(stored.url, stored.apiKey, stored.keyId!),
        ({ exitCode, message }) =>
          new Failure({
            message: `The API key is not revoked, and you are still signed in. ${message} To sign out nevertheless, use: delivery logout --keep-key`,
            ...(exitCode === undefined ? {} : { exitCode })
          })
      )
    }
    const wasSignedIn = hasProfile && (yield* forgetProfile(profile.value))
    const keyRevoked = wasSignedIn && isEnded
    yield* print(
      { profile: profile.value, wasSignedIn, ...(keyRevoked ? { keyRevoked } : {}) },
      wasSignedIn
        ? `The profile "${profile.value}" is deleted${keyRevoked ? ", and its API key is revoked." : ". The API key itself works until you revoke it."}`
        : (keyProblem ?? `There is no profile "${profile.value}".`)
    )
  })
).pipe(
  Command.withDescription("Delete a profile from this computer, and revoke its key if login has made it"),
  Command.withGlobalFlags(connectionFlags)
)

/** The last four characters of a key; nothing of one that is too short to be a key. */
const ending = (apiKey: string): string => (apiKey.length < 20 ? "…" : `…${apiKey.slice(-4)}`)

/** After a logout, none is named. */
const noProfile = ({ source, value }: Sourced<string>): string =>
  source === "the default" ? "none" : `none named ${value}`

const statusText = (
  { apiKey, hasProfile, keyProblem, profile, url, workspace }: Settings,
  token: Sourced<string> | undefined,
  file: string
): string =>
  [
    table(
      ["Setting", "Value", "From"],
      [
        ["Address", url.value, url.source],
        ["Workspace", workspace.value, workspace.source],
        ["API key", apiKey === undefined ? "none" : ending(apiKey.value), apiKey?.source ?? ""],
        ["Deployment token", token === undefined ? "none" : ending(token.value), token?.source ?? ""],
        ["Profile", hasProfile ? profile.value : noProfile(profile), profile.source]
      ]
    ),
    ...(keyProblem === undefined || apiKey === undefined ? [] : [keyProblem]),
    "`secrets run` reads with the deployment token before the API key, and DELIVERY_TOKEN comes before DELIVERY_TOKEN_FILE.",
    `A flag comes before the environment, the environment before the profile, the profile before the default. Profiles: ${file}`
  ].join("\n")

/** What the service tells of the key that is in use; undefined for one that it does not tell of. */
const keyInUse = ({ apiKey, url }: { readonly apiKey: string; readonly url: string }) =>
  callAt({ url, apiKey }, (client) => client.apiKeys.list()).pipe(
    Effect.map((keys) =>
      keys.find(({ lastFour, tokenPrefix }) => apiKey.startsWith(tokenPrefix) && apiKey.endsWith(lastFour))
    ),
    Effect.orElseSucceed(() => undefined)
  )

const described = ({ expiresAt, name, scopes }: ApiKey): string =>
  [
    `, with the key "${oneLine(name)}"`,
    scopes === null ? "" : ` for ${scopes.join(", ")}`,
    expiresAt === null ? "" : ` until ${expiresAt.slice(0, 10)}`
  ].join("")

export const status = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const found = yield* settings
    const { apiKey, url } = found
    const file = yield* profilesFile
    const token = yield* givenToken
    const me =
      apiKey === undefined
        ? undefined
        : yield* Effect.result(callAt({ url: url.value, apiKey: apiKey.value }, (client) => client.me.get()))
    const signedInAs = me?._tag === "Success" ? me.success : null
    const key = signedInAs?.kind === "user" ? yield* keyInUse({ url: url.value, apiKey: apiKey!.value }) : undefined
    yield* print(
      {
        url,
        workspace: found.workspace,
        profile: found.profile,
        deploymentToken: token === undefined ? null : { lastFour: ending(token.value).slice(1), source: token.source },
        apiKey: apiKey === undefined ? null : { lastFour: ending(apiKey.value).slice(1), source: apiKey.source },
        key: key === undefined ? null : { name: key.name, scopes: key.scopes, expiresAt: key.expiresAt },
        profilesFile: file,
        me: signedInAs
      },
      `${statusText(found, token, file)}${signedInAs === null ? "" : `\nSigned in as ${whois(signedInAs)}${key === undefined ? "" : described(key)}.`}`
    )
    if (me === undefined) {
      const { hasCiToken } = yield* Effect.promise(() => import("./CiKey.ts"))
      // Not exchanged to say so: of GitLab's tokens, each can be exchanged once.
      if (hasCiToken())
        return yield* note("Commands exchange the ID token of this job for a key. It has not been tried.")
      return yield* Failure.notSignedIn(
        `${found.keyProblem ?? "You are not signed in."} Run \`delivery login\`, or set DELIVERY_API_KEY.`
      )
    }
    if (me._tag === "Failure") return yield* me.failure
    const workspace = found.workspace.value
    if (!me.success.workspaces.some(({ id, slug }) => workspace === slug || workspace === id)) {
      return yield* new Failure({ message: `There is no workspace "${oneLine(workspace)}" that this key may act in.` })
    }
  })
).pipe(
  Command.withDescription("Show who you are to which service, and where each setting comes from"),
  Command.withGlobalFlags(connectionFlags)
)
