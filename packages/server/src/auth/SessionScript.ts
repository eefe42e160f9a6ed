/** What the pages share that know who is signed in, over `pageScript`. */
export const sessionScript = `
const sessionEnded = "Your session has ended. Sign in again."
const somebodyElse = "Somebody else has signed in with this browser meanwhile."
let methods = { mail: false, passkeys: false, providers: [] }
const hasPasskeys = () =>
  methods.passkeys && isSecureContext && isHome && window.PublicKeyCredential !== undefined
// Who is signed in with this browser; undefined for nobody.
const currentSession = async () => {
  const { body, status } = await call("GET", "session", { expected: [401] })
  return status === 200 ? body : undefined
}
// Does it for the person whom the page shows. In another tab somebody else may have signed in since, or nobody be signed in.
const asPerson = (person, otherwise) => (work) => async () => {
  const now = await currentSession()
  return now?.person.id === person()?.id ? work(now) : otherwise(now)
}
// Providers send browsers back to the address of the service alone.
const usable = (providers) => isHome ? providers : []
const whoIs = ({ email, name }) => name + " (" + email + ")"
// By what the person signs in.
const waysIn = async () => {
  const [{ passkeys }, { identities }, { session: { sudoUntil }, waysIn }] = (await Promise.all(["passkeys", "identities", "session"].map((path) => call("GET", path)))).map(({ body }) => body)
  const providers = methods.providers.filter(({ id }) => identities.some(({ provider }) => provider === id))
  return { identities, mail: waysIn.includes("mail"), passkeys, providers, sudoUntil, isNone: waysIn.length === 0 }
}
// What somebody loses who signs out without a way to sign in again; undefined for who has one.
const lossOf = ({ emailVerifiedAt }, { isNone, sudoUntil }, where = "") => {
  if (!isNone) return undefined
  const remedies = [
    ...(methods.mail && emailVerifiedAt === null ? ["verify your address"] : []),
    ...(hasPasskeys() ? ["add a passkey"] : []),
    ...usable(methods.providers).map(({ name }) => "add an account at " + name)
  ]
  // Later than that, a way in is added with a proof alone, which nobody without a way in has.
  const time = sudoUntil === null ? undefined : new Date(sudoUntil).toLocaleTimeString([], { timeStyle: "short" })
  const until = time === undefined ? ", with such a link" : " before " + time + ". Until then your sign-in is new enough for that. Later you need such a link first"
  const remedy = remedies.length === 0 ? "" : " So " + either(remedies) + where + until + "."
  return "You have no way to sign in again but a link from the person who runs this service." + remedy
}
`
