import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Settings } from "../Config.ts"
import { htmlPage } from "../http/HtmlPage.ts"
import { sessionScript } from "./SessionScript.ts"

/**
 * `GET /invite`: accepts the invite whose token stands behind `#` in the address, when its button is pressed. The token leaves
 * the address at once, and the server gets it by `POST` alone: neither a preview of a chat nor the log of a proxy has it.
 * `/invites/{token}` is the address of links that earlier versions mailed.
 */

const body = `<p id="as" hidden></p>
<div id="new" hidden>
<label for="name">Your name</label>
<input id="name" type="text" autocomplete="name" maxlength="100">
</div>
<button id="join" class="primary" type="button" hidden>Join</button>
<p id="known" class="muted" hidden>You have an account here already? <a id="known-sign-in" href="/sign-in">Sign in</a>, then open the link of the invite again.</p>
<button id="sign-out" type="button" hidden>Sign out and go on</button>
<a id="sign-in" class="button primary" href="/sign-in" hidden>Sign in</a>
<a id="go-on" class="button primary" href="/sign-in" hidden>Go to your account</a>`

const source = `
let token, invite, session, loss
// The link stays with the page when that is loaded again.
const arrive = () => {
  const [, found = history.state?.token] = /^(?:#|\\/invites\\/)(itk_[0-9A-Za-z]{42})$/.exec(location.hash || location.pathname) ?? []
  history.replaceState(found === undefined ? null : { token: found }, "", "/invite")
  return found
}
const parts = ["as", "new", "join", "known", "sign-out", "sign-in", "go-on"]
const only = (...names) => {
  for (const name of parts) at(name).hidden = !names.includes(name)
}
const end = (message, ...names) => {
  only(...names)
  say(message)
  if (names.length === 0) focusText()
  else at(names[0]).focus()
}
// Whoever is signed in has their account to go to.
const onwards = () => session === undefined ? "sign-in" : "go-on"
const workspaceOf = () => named(invite.workspace.name)
const gone = () => end("This invite was used already, was revoked or has expired. Ask whoever invited you for another one." +
  (session === undefined ? " If you have joined already, sign in." : ""), onwards())
const refusals = {
  already_member: () => end("You are a member of " + workspaceOf() + " already.", onwards()),
  address_in_use: () => end("An active member of " + workspaceOf() + " has the address " + invite.email + " already. Ask whoever invited you which account that is.", onwards())
}
const signedInAs = () => "You are signed in as " + whoIs(session.person) + "."
// The invite is not for the account that is signed in.
const showOther = (message, remedy) => {
  say(message)
  at("as").textContent = signedInAs() + " To accept the invite, sign out" + remedy
  only("as", "sign-out")
  focusText()
}
const show = () => {
  const { email, inviter, role, signInRequired, workspace } = invite
  if (session !== undefined && session.person.email !== email) {
    return showOther("This invite is for " + email + ".", ", or ask for an invite to your own address.")
  }
  if (session !== undefined && signInRequired && session.person.emailVerifiedAt === null) {
    return showOther(email + " is the verified address of another account.", " and sign in with that one: the invite waits for it there.")
  }
  if (session === undefined && signInRequired) return end(email + " has an account here already. Sign in with it: the invite waits for you there.", "sign-in")
  const by = inviter.name === undefined ? "Somebody who has left" : named(inviter.name)
  say(by + " invites " + email + " to the workspace " + workspaceOf() + ", with the role " + role + ".")
  at("join").textContent = "Join " + workspace.name + " as " + role
  if (session !== undefined) {
    at("as").textContent = signedInAs()
    only("as", "join")
    return at("join").focus()
  }
  only("new", "join", "known")
  at("name").focus()
}
const start = async () => {
  methods = (await call("GET", "methods")).body
  if (!methods.available) return end(insecure)
  session = await currentSession()
  loss = session && lossOf(session.person, await waysIn(), " on the page of your account")
  if (token === undefined) return end("This page has no invite. Open the link of your invite again.", onwards())
  const found = await call("POST", "invites/preview", { body: { token }, expected: [404] })
  if (found.status === 404) return gone()
  invite = found.body
  show()
}
whenEnded = start
const begin = () => {
  const found = arrive()
  inTurn(() => {
    if (found === undefined && token !== undefined) return
    token = found
    pointHome(token === undefined ? "/invite" : "/invite#" + token)
    only()
    return start()
  })
}
// Otherwise the page is shown for who is signed in by now.
const asShown = asPerson(() => session?.person, async (now) => {
  const before = session
  await start()
  tell(now === undefined ? "Your session has ended." : before === undefined ? "Somebody has signed in with this browser meanwhile." : somebodyElse)
})
const accept = (name) => asShown(async () => {
  const { body, status } = await call("POST", "invites/accept", { body: { token, name }, expected: [400, 404, 409] })
  if (status === 201) return location.replace("/sign-in#joined-" + invite.workspace.id)
  if (status === 400) return wrong("name", body.message)
  // Most of it shows when the page looks at the invite again, and at who is signed in.
  await start()
  refusals[body.reason]?.()
})()
doing(at("join"), () => {
  const name = (session?.person.name ?? at("name").value).trim()
  return name === "" ? wrong("name", "Type your name first.") : accept(name)
})
doingTwice(at("sign-out"), asShown(async () => {
  await call("DELETE", "session")
  await start()
  tell("You are signed out.")
}), { why: () => loss })
onEnter("name", "join")
addEventListener("hashchange", begin)
begin()
`

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Settings, ({ baseUrl }) => {
    const script = { source: `${sessionScript}${source}`, baseUrl }
    const response = Effect.succeed(htmlPage({ title: "Accept your invite", body, script }))
    return Effect.andThen(router.add("GET", "/invite", response), router.add("GET", "/invites/:token", response))
  })
)
