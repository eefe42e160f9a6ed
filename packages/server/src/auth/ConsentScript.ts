/** Where a request for consent is shown, and where its calls are. */
interface Consent {
  /** The path of the page, behind which the id stands. */
  readonly page: string
  /** Below `/auth/v1`, before the id. */
  readonly calls: string
  /** Behind the id: who asks, for whoever is not signed in. */
  readonly asker: string
}

const source = `
let id, shown, loss
// Nobody comes back to this page by going back in the browser: it would lead to the same place again.
const leadToSignIn = () => {
  // The proof may become too old while somebody chooses.
  keep()
  at("request").hidden = true
  say("Sign in first. Then you come back to this page.")
  at("sign-in").hidden = false
  location.replace("/sign-in?returnTo=" + encodeURIComponent(consent.page + "#" + id))
}
const end = (message) => {
  at("request").hidden = true
  at("sign-in").hidden = true
  say(message)
  focusText()
}
// Nobody is led back to what is answered.
const forget = () => {
  if (localStorage.getItem("returnTo")?.includes(id)) localStorage.removeItem("returnTo")
}
const old = () => {
  forget()
  end("This request was answered already, or is too old. Begin again in the program that sent you here.")
}
const start = async () => {
  if (id === undefined) return end("This address is not complete. Begin again in the program that sent you here.")
  methods = (await call("GET", "methods")).body
  if (!methods.available) return end(insecure)
  if ((await call("GET", consent.calls + id + consent.asker, { expected: [404] })).status === 404) return old()
  shown = await currentSession()
  if (shown === undefined || shown.session.sudoUntil === null) return leadToSignIn()
  const found = await call("GET", consent.calls + id, { expected: [404] })
  if (found.status === 404) return old()
  loss = lossOf(shown.person, await waysIn(), " on the page of your account")
  at("who").textContent = "You are signed in as " + whoIs(shown.person) + "."
  show(found.body)
  at("request").hidden = false
  at("sign-in").hidden = true
  // Whoever decides begins where it says about what.
  focusText()
}
whenEnded = leadToSignIn
const lookAgain = somebodyElse + " Look again."
const decide = async (decision) => {
  const { body, status } = await call("POST", consent.calls + id, { body: decision, expected: [400, "sudo_required", 404, "other_person"] })
  if (status === 200) {
    forget()
    end(done(decision, body.location))
    if (body.location !== null) location.replace(body.location)
    return
  }
  if (status === 400) return invalid(body)
  if (status === 403) return leadToSignIn()
  // The request may be answered, or what was chosen be no longer one to choose.
  await start()
  if (!at("request").hidden) warn(status === 409 ? lookAgain : body.message)
}
const deciding = (button, decision) => button.addEventListener("click", () => press(async () => {
  const decided = decision()
  if (decided !== undefined) await decide(decided)
}, at("allow"), at("refuse")))
deciding(at("allow"), () => allowing(shown.person))
deciding(at("refuse"), () => ({ allow: false }))
at("sign-in").addEventListener("click", leadToSignIn)
doingTwice(at("other-account"), async () => {
  const now = await currentSession()
  if (now !== undefined && now.person.id !== shown.person.id) {
    await start()
    return warn(lookAgain)
  }
  await call("DELETE", "session")
  leadToSignIn()
}, { why: () => loss })
const begin = () => inTurn(() => {
  const { hash } = location
  id = /^#[0-9a-f-]{36}$/.test(hash) ? hash.slice(1) : undefined
  pointHome(consent.page + (id === undefined ? "" : hash))
  return start()
})
addEventListener("hashchange", begin)
begin()
`

/**
 * What the pages share on which people decide about a program, over `sessionScript` and what the page itself defines:
 * `show(request)`, `keep()` (a choice, while somebody signs in), `allowing()` (the decision, or undefined where something
 * is missing), `invalid(body)` (what is wrong with it) and `done(decision, location)` (what is said in the end). Who is not
 * signed in, or has not proven lately who they are, is led to `/sign-in`, and back, before they choose.
 */
export const consentScript = (consent: Consent): string => `const consent = ${JSON.stringify(consent)}${source}`
