import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { htmlPage } from "../http/HtmlPage.ts"

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
<a id="go-on" class="button primary" href="/sign-in" hidden>Go on</a>`

const script = `
let token, invite, session
const arrive = () => {
  const [, found] = /^(?:#|\\/invites\\/)(itk_[0-9A-Za-z]{42})$/.exec(location.hash || location.pathname) ?? []
  history.replaceState(null, "", "/invite")
  return found
}
const only = (...shown) => {
  for (const name of ["as", "new", "join", "known", "sign-out", "sign-in", "go-on"]) at(name).hidden = !shown.includes(name)
}
const end = (message, ...shown) => {
  only(...shown)
  say(message)
  const [next] = shown
  if (next === undefined) focusText()
  else at(next).focus()
}
const workspaceOf = () => named(invite.workspace.name)
const gone = () => end("This invite was used already, was revoked or has expired. Ask whoever invited you for another one. If you have joined already, sign in.", "sign-in")
const leadToSignIn = () => end(invite.email + " has an account here already. Sign in with it: the invite waits for you there.", "sign-in")
const refusals = {
  sign_in_required: leadToSignIn,
  other_address: () => showOther(),
  already_member: () => end("You are a member of " + workspaceOf() + " already.", "go-on"),
  address_in_use: () => end("An active member of " + workspaceOf() + " has the address " + invite.email + " already. Ask whoever invited you which account that is.", "sign-in")
}
const showOther = () => {
  say("This invite is for " + invite.email + ".")
  at("as").textContent = "You are signed in as " + session.person.name + " (" + session.person.email + "). To accept the invite, sign out, or ask for an invite to your own address."
  only("as", "sign-out")
  focusText()
}
const show = () => {
  const { email, inviter, role, workspace } = invite
  at("join").textContent = "Join " + workspace.name + " as " + role
  if (session !== undefined && session.person.email !== email) return showOther()
  if (session === undefined && invite.signInRequired) return leadToSignIn()
  say(named(inviter.name) + " invites " + email + " to the workspace " + workspaceOf() + ", with the role " + role + ".")
  if (session !== undefined) {
    at("as").textContent = "You are signed in as " + session.person.name + " (" + session.person.email + ")."
    only("as", "join")
    return at("join").focus()
  }
  only("new", "join", "known")
  at("name").focus()
}
const start = async () => {
  only()
  const methods = await call("GET", "methods")
  if (!methods.body.available) return end(insecure)
  if (token === undefined) return end("This page has no invite. Open the link of your invite again.", "sign-in")
  const [found, signedIn] = [await call("POST", "invites/preview", { token }), await call("GET", "session")]
  session = signedIn.status === 200 ? signedIn.body : undefined
  if (found.status === 404) return gone()
  if (found.status !== 200) return end(found.body.message)
  invite = found.body
  show()
}
const begin = () => {
  const found = arrive()
  if (found === undefined && token !== undefined) return
  token = found
  warn("")
  start().catch(() => {
    // So that the page finds it when it is loaded again.
    if (token !== undefined) history.replaceState(null, "", "/invite#" + token)
    say("")
    warn("The server does not answer. Load the page again.")
  })
}
doing(at("join"), async () => {
  const name = (session?.person.name ?? at("name").value).trim()
  if (name === "") {
    warn("Type your name first.")
    return at("name").focus()
  }
  const accepted = await call("POST", "invites/accept", { token, name })
  if (accepted.status === 201) return location.replace("/sign-in#joined-" + invite.workspace.id)
  const refused = accepted.status === 404 ? gone : refusals[accepted.body.reason]
  return refused === undefined ? warn(accepted.body.message) : refused()
})
doing(at("sign-out"), async () => {
  await call("DELETE", "session")
  session = undefined
  show()
})
onEnter("name", "join")
addEventListener("hashchange", begin)
begin()
`

const response = Effect.succeed(htmlPage({ title: "Accept your invite", body, script }))

export const layer = HttpRouter.use((router) =>
  Effect.andThen(router.add("GET", "/invite", response), router.add("GET", "/invites/:token", response))
)
