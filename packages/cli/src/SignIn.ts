import type { Me } from "@delivery/client"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { callAt } from "./Calls.ts"
import { givenToken } from "./DeploymentToken.ts"
import { Failure } from "./Failure.ts"
import { secretInput } from "./Input.ts"
import { oneLine, print, table } from "./Output.ts"
import { forgetProfile, keepProfile, profileName, profilesFile } from "./Profiles.ts"
import {
  connectionFlags,
  defaultUrl,
  environment,
  isHttpUrl,
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

/** The workspace to store: the one that was asked for, or the only one. */
const workspaceOf = (me: Me, asked: string | undefined) => {
  const slugs = me.workspaces.map(({ slug }) => slug)
  const found = asked === undefined ? undefined : me.workspaces.find(({ id, slug }) => slug === asked || id === asked)
  if (asked !== undefined && found === undefined) {
    return Effect.fail(new Failure({ message: `The key cannot act in a workspace "${oneLine(asked)}".` }))
  }
  if (found !== undefined) return Effect.succeed(found.slug)
  if (slugs.length > 1) {
    return Effect.fail(Failure.usage(`Say which workspace with --workspace: ${slugs.join(", ")}.`))
  }
  return Effect.succeed(slugs[0] ?? null)
}

const flagOr = Effect.fnUntraced(function* (flag: Option.Option<string>, variable: string) {
  return Option.getOrUndefined(Option.isSome(flag) ? flag : yield* environment(variable))
})

export const login = Command.make(
  "login",
  {},
  Effect.fnUntraced(function* () {
    const name = yield* profileName((yield* flagOr(yield* ProfileFlag, "DELIVERY_PROFILE")) ?? "default")
    const url = plainUrl((yield* flagOr(yield* UrlFlag, "DELIVERY_URL")) ?? defaultUrl)
    if (!isHttpUrl(url)) {
      return yield* Failure.usage("The address of the service is not an http(s) URL.")
    }
    const apiKey = (yield* secretInput(`API key for ${url}`)).trim()
    if (!/^ctk_[0-9A-Za-z]+$/.test(apiKey)) {
      return yield* Failure.usage("An API key is needed on standard input. It begins with ctk_.")
    }
    const me = yield* callAt({ url, apiKey }, (client) => client.me.get())
    const workspace = yield* workspaceOf(me, yield* flagOr(yield* WorkspaceFlag, "DELIVERY_WORKSPACE"))
    const file = yield* keepProfile(name, { url, workspace, apiKey })
    yield* print(
      { profile: name, url, workspace, file, me },
      `Signed in to ${url} as ${whois(me)}${workspace === null ? "" : ` in the workspace ${workspace}`}.\nThe key is stored in ${file}, which only you can read.`
    )
  })
).pipe(
  Command.withDescription("Store an API key, read from standard input or asked for on a terminal, as a profile"),
  Command.withGlobalFlags(connectionFlags)
)

export const logout = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const { hasProfile, keyProblem, profile } = yield* settings
    const wasSignedIn = hasProfile && (yield* forgetProfile(profile.value))
    yield* print(
      { profile: profile.value, wasSignedIn },
      wasSignedIn
        ? `The profile "${profile.value}" is deleted. The API key itself works until you revoke it.`
        : (keyProblem ?? `There is no profile "${profile.value}".`)
    )
  })
).pipe(
  Command.withDescription("Delete a profile from this computer. The API key itself stays valid"),
  Command.withGlobalFlags(connectionFlags)
)

/** The last four characters of a key; nothing of one that is too short to be a key. */
const ending = (apiKey: string): string => (apiKey.length < 20 ? "…" : `…${apiKey.slice(-4)}`)

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
        ["Profile", hasProfile ? profile.value : `none named ${profile.value}`, profile.source]
      ]
    ),
    ...(keyProblem === undefined || apiKey === undefined ? [] : [keyProblem]),
    "`secrets run` reads with the deployment token before the API key, and DELIVERY_TOKEN comes before DELIVERY_TOKEN_FILE.",
    `A flag comes before the environment, the environment before the profile, the profile before the default. Profiles: ${file}`
  ].join("\n")

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
    yield* print(
      {
        url,
        workspace: found.workspace,
        profile: found.profile,
        deploymentToken: token === undefined ? null : { lastFour: ending(token.value).slice(1), source: token.source },
        apiKey: apiKey === undefined ? null : { lastFour: ending(apiKey.value).slice(1), source: apiKey.source },
        profilesFile: file,
        me: signedInAs
      },
      `${statusText(found, token, file)}${signedInAs === null ? "" : `\nSigned in as ${whois(signedInAs)}.`}`
    )
    if (me === undefined)
      return yield* Failure.notSignedIn(
        `${found.keyProblem ?? "You are not signed in."} Run \`delivery login\`, or set DELIVERY_API_KEY.`
      )
    if (me._tag === "Failure") return yield* me.failure
  })
).pipe(
  Command.withDescription("Show who you are to which service, and where each setting comes from"),
  Command.withGlobalFlags(connectionFlags)
)
