import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { htmlPage } from "../http/HtmlPage.ts"

/**
 * `GET /authorize`: what stands behind `#` in the address is the id of an authorization. The page shows who asks for access,
 * first of all where the access goes, and answers by `fetch`. Who is not signed in, or has not proven lately who they are, is
 * led to `/sign-in`, and back, before they choose.
 */

const body = `<section id="request" aria-labelledby="asks" hidden>
<p id="host"></p>
<p id="asks"></p>
<p id="client"></p>
<p><span id="who"></span> <button id="other-account" class="link" type="button">Use another account</button></p>
<div id="choice">
<label for="workspace">Workspace</label>
<select id="workspace" aria-describedby="limits"></select>
</div>
<p id="limits" class="muted">It can see who you are in this workspace, and take and answer the messages that are sent to it. It can do nothing else.</p>
<button id="allow" class="primary" type="button">Allow</button>
<button id="refuse" type="button">Refuse</button>
</section>
<button id="sign-in" class="primary" type="button" hidden>Sign in</button>`

const script = `
let id, shownTo
const arrive = () => {
  id = /^#[0-9a-f-]{36}$/.test(location.hash) ? location.hash.slice(1) : undefined
}
const option = (value, text) => {
  const made = document.createElement("option")
  made.value = value
  made.textContent = text
  return made
}
const pressing = (isPressing) => {
  for (const name of ["allow", "refuse"]) at(name).disabled = isPressing
}
const unreachable = () => {
  pressing(false)
  warn("The server does not answer. Try again.")
}
const leadToSignIn = () => {
  // The proof may become too old while somebody chooses.
  if (at("workspace").value !== "") sessionStorage.setItem("workspace of " + id, at("workspace").value)
  location.assign("/sign-in?returnTo=" + encodeURIComponent("/authorize#" + id))
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
const show = ({ client, host, loopback, redirectUri, workspaces }, { person }) => {
  say("Somebody asks for access:")
  at("host").textContent = host
  at("asks").textContent = loopback
    ? "That is your own computer: allow it only if you have just begun to sign in with a program there."
    : "Allow it only if you have just begun to sign in there. You will be sent to " + redirectUri
  at("client").textContent = "It calls itself " + named(client.name) + ", and nobody has checked that. " +
    (client.kind === "document" ? "It is described at " + client.id : "It has registered itself here.")
  shownTo = person.id
  at("who").textContent = "Signed in as " + person.name + " (" + person.email + ")."
  // Of several, one is chosen by the person, never by the page.
  const none = workspaces.length > 1 ? [option("", "Choose a workspace")] : []
  at("workspace").replaceChildren(...none, ...workspaces.map(({ id, name, role }) => option(id, name + " (you are " + role + ")")))
  const chosen = sessionStorage.getItem("workspace of " + id)
  if (workspaces.some(({ id }) => id === chosen)) at("workspace").value = chosen
  for (const name of ["allow", "choice", "limits"]) at(name).hidden = workspaces.length === 0
  if (workspaces.length === 0) say("You are in no workspace that it could be let into. It asks for access:")
  at("request").hidden = false
  at("sign-in").hidden = true
  pressing(false)
  at("refuse").focus()
}
const start = async () => {
  warn("")
  if (id === undefined) return end("This address is not complete. Begin again in the program that sent you here.")
  const methods = await call("GET", "methods")
  if (!methods.body.available) return end(insecure)
  if ((await call("GET", "authorizations/" + id + "/client")).status === 404) return old()
  const [found, session] = [await call("GET", "authorizations/" + id), await call("GET", "session")]
  if (found.status === 404) return old()
  if (found.status === 401 || session.status === 401 || session.body.session.sudoUntil === null) {
    at("request").hidden = true
    say("Sign in first. Then you come back to this page.")
    at("sign-in").hidden = false
    return leadToSignIn()
  }
  if (found.status !== 200) return end(found.body.message)
  show(found.body, session.body)
}
const decide = async (decision) => {
  pressing(true)
  warn("")
  try {
    const decided = await call("POST", "authorizations/" + id, decision)
    if (decided.status === 200) {
      forget()
      end("You can close this page.")
      return location.assign(decided.body.location)
    }
    if (decided.status === 401 || decided.body.reason === "sudo_required") return leadToSignIn()
    if (decided.status === 404) return old()
    if (decided.body.reason === "other_person") {
      await start()
      return warn("Somebody else has signed in with this browser meanwhile. Look again.")
    }
    pressing(false)
    warn(decided.body.message)
  } catch {
    unreachable()
  }
}
const begin = () => {
  arrive()
  start().catch(unreachable)
}
const allow = () => {
  const workspace = at("workspace").value
  if (workspace !== "") return decide({ allow: true, workspace, person: shownTo })
  warn("Choose a workspace first.")
  at("workspace").focus()
}
at("allow").addEventListener("click", allow)
at("refuse").addEventListener("click", () => decide({ allow: false }))
at("sign-in").addEventListener("click", leadToSignIn)
doing(at("other-account"), async () => {
  await call("DELETE", "session")
  leadToSignIn()
})
addEventListener("hashchange", begin)
begin()
`

const response = htmlPage({ title: "Allow access?", body, script })

export const layer = HttpRouter.use((router) => router.add("GET", "/authorize", Effect.succeed(response)))
