import { isServiceUrl } from "@delivery/domain/ServiceUrl"
import { Config, Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { Failure } from "./Failure.ts"
import { optionalText } from "./Flags.ts"
import { profileName, type Profile, readProfiles } from "./Profiles.ts"

/** Where the service is and who calls it: a flag, else the environment, else the profile, else the default. */

export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print the result as JSON"))
})

export const ProfileFlag = GlobalFlag.Setting("profile")({
  flag: optionalText("profile", "Profile to use. Environment: DELIVERY_PROFILE. Default: the one of the last login")
})
export const UrlFlag = GlobalFlag.Setting("url")({
  flag: optionalText("url", "Address of the service. Environment: DELIVERY_URL")
})
export const WorkspaceFlag = GlobalFlag.Setting("workspace")({
  flag: optionalText("workspace", "Slug of the workspace. Environment: DELIVERY_WORKSPACE")
})

/** The flags of all commands that call the service with an API key. */
export const connectionFlags = [UrlFlag, WorkspaceFlag, ProfileFlag] as const

/** A value, and where it came from. */
export interface Sourced<A> {
  readonly value: A
  readonly source: string
}

export interface Settings {
  readonly profile: Sourced<string>
  /** Whether there is such a profile. */
  readonly hasProfile: boolean
  readonly url: Sourced<string>
  readonly workspace: Sourced<string>
  readonly apiKey: Sourced<string> | undefined
  /** Why no key of a profile is used, where that needs saying. */
  readonly keyProblem: string | undefined
}

/** A variable of the environment. An empty one counts as not set. */
export const environment = (name: string) =>
  Effect.map(
    Config.option(Config.String(name)),
    Option.filter((value) => value.trim() !== "")
  )

const sourced = <A>(source: string, value: A): Sourced<A> => ({ source, value })

const firstOf = <A>(candidates: ReadonlyArray<Sourced<A | undefined>>, otherwise: A): Sourced<A> => {
  const found = candidates.find(({ value }) => value !== undefined)
  return found === undefined ? sourced("the default", otherwise) : sourced(found.source, found.value!)
}

/** Two spellings of one address mean one service. */
export const plainUrl = (url: string): string => url.trim().replace(/\/+$/, "")

export const defaultUrl = "http://localhost:4000"

export const isHttpUrl = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

/** The address must be one before a key is sent to it. */
const checkedUrl = (url: Sourced<string>) =>
  isServiceUrl(url.value)
    ? Effect.succeed(sourced(url.source, plainUrl(url.value)))
    : Effect.fail(Failure.noServiceUrl(`The address of the service (from ${url.source})`))

/** The key of a profile is for the service of that profile, and is sent to no other. */
const profileKey = (name: string, profile: Profile | undefined, url: string, missing: string | undefined) => {
  if (profile === undefined) return { key: undefined, problem: missing }
  return plainUrl(profile.url) === url
    ? { key: sourced(`the profile "${name}"`, profile.apiKey), problem: undefined }
    : { key: undefined, problem: `The profile "${name}" is for ${profile.url}: its API key is not sent to ${url}.` }
}

/** Why there is nothing of the profile: the one that was named does not exist, or none is named after a `logout`. */
const missingProfile = (named: string | undefined, profiles: ReadonlyArray<string>): string | undefined => {
  const others = profiles.length === 0 ? "None is stored." : `Stored are: ${profiles.join(", ")}.`
  if (named !== undefined) return `There is no profile "${named}". ${others}`
  return profiles.length === 0
    ? undefined
    : `You are signed out, and no profile is in use. ${others} Name one with --profile.`
}

export const settings = Effect.gen(function* () {
  const flag = {
    profile: Option.getOrUndefined(yield* ProfileFlag),
    url: Option.getOrUndefined(yield* UrlFlag),
    workspace: Option.getOrUndefined(yield* WorkspaceFlag)
  }
  const variable = (name: string) =>
    Effect.map(environment(name), (value) => sourced(name, Option.getOrUndefined(value)?.trim()))
  const stored = yield* readProfiles
  const named = [sourced("--profile", flag.profile), yield* variable("DELIVERY_PROFILE")]
  const name = firstOf([...named, sourced("the last login", stored.current ?? undefined)], "default")
  yield* profileName(name.value)
  // After a `logout`, no older profile takes the place of the one that was in use.
  const isInUse = stored.current !== null || named.some(({ value }) => value !== undefined)
  const profile = isInUse && Object.hasOwn(stored.profiles, name.value) ? stored.profiles[name.value] : undefined
  const missing = missingProfile(isInUse ? name.value : undefined, Object.keys(stored.profiles))
  const ofProfile = `the profile "${name.value}"`
  const url = yield* checkedUrl(
    firstOf([sourced("--url", flag.url), yield* variable("DELIVERY_URL"), sourced(ofProfile, profile?.url)], defaultUrl)
  )
  const workspace = firstOf(
    [
      sourced("--workspace", flag.workspace),
      yield* variable("DELIVERY_WORKSPACE"),
      sourced(ofProfile, profile?.workspace ?? undefined)
    ],
    "main"
  )
  const given = yield* variable("DELIVERY_API_KEY")
  const { key, problem } = profileKey(name.value, profile, url.value, missing)
  const apiKey = given.value === undefined ? key : sourced(given.source, given.value)
  return {
    profile: name,
    hasProfile: profile !== undefined,
    url,
    workspace,
    apiKey,
    keyProblem: problem
  } satisfies Settings
})

/** What a call needs. */
export interface Connection {
  readonly url: string
  readonly workspace: string
  readonly apiKey: string
}

/** What else the service gives out, by how it begins. */
const otherTokens: Readonly<Record<string, string>> = {
  dtk: "the token of a deployment",
  atk: "the access token of an agent",
  rtk: "the refresh token of an agent",
  itk: "the token of an invite",
  wtk: "the token of a session",
  stk: "the token of a run's semaphores",
  ltk: "the token of a sign-in link",
  otk: "a code of a sign-in"
}

/** What is given in place of an API key; undefined for what may be one. */
const mistaken = ({ source, value }: Sourced<string>): Failure | undefined => {
  const prefix = value.slice(0, 3)
  return value[3] === "_" && Object.hasOwn(otherTokens, prefix)
    ? Failure.usage(`${source} has ${otherTokens[prefix]} (${prefix}_…). An API key begins with ctk_.`)
    : undefined
}

/** The connection, or why there is none. A job of a CI without a key gets one for its ID token. */
export const connection = Effect.flatMap(settings, ({ apiKey, keyProblem, url, workspace }) => {
  const at = { url: url.value, workspace: workspace.value }
  if (apiKey !== undefined) {
    const wrong = mistaken(apiKey)
    return wrong === undefined ? Effect.succeed<Connection>({ ...at, apiKey: apiKey.value }) : Effect.fail(wrong)
  }
  const why = keyProblem ?? `You are not signed in to ${url.value}.`
  return Effect.flatMap(
    Effect.promise(() => import("./CiKey.ts")),
    ({ ciKey, lackingPermission }) =>
      Effect.flatMap(ciKey(at), (key) => {
        if (key !== undefined) return Effect.succeed<Connection>({ ...at, apiKey: key })
        const lacking = lackingPermission()
        const advice =
          lacking === undefined
            ? `Run \`delivery login --url ${url.value}\`, or set DELIVERY_API_KEY.`
            : `To get a key of its own, ${lacking}; or set DELIVERY_API_KEY.`
        return Effect.fail(Failure.notSignedIn(`${why} ${advice}`))
      })
  )
})
