import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { htmlPage } from "../http/HtmlPage.ts"

/**
 * `GET /authorize`: what stands behind `#` in the address is the id of an authorization. The page shows who asks for access,
 * first of all where the access goes, and answers by `fetch`. Who is not signed in is led to `/sign-in`, and back.
 */

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(30rem, calc(100vw - 3rem)); padding: 1.5rem 0; }
h1 { font-size: 1rem; font-weight: normal; margin: 0 0 .5rem; }
#host { font-size: 1.5rem; font-weight: bold; margin: 0; overflow-wrap: anywhere; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 .25rem; }
select, button { font: inherit; padding: .5rem 1rem; border: 1px solid; border-radius: .375rem; }
select { width: 100%; }
button { cursor: pointer; margin: 1rem .5rem 0 0; }
button:disabled { opacity: .5; cursor: default; }
[hidden] { display: none; }
`

const body = `<h1>Workspace Delivery Service</h1>
<p id="text" role="status">This page needs JavaScript.</p>
<section id="request" aria-labelledby="asks" hidden>
<p id="host"></p>
<p id="asks"></p>
<p id="client"></p>
<label for="workspace">Workspace</label>
<select id="workspace"></select>
<label for="scope">What it may do there, as you</label>
<select id="scope" aria-describedby="limits"></select>
<p id="limits">Either way it can only see who you are here, and take and answer the messages that are sent to it.</p>
<button id="refuse" type="button">Refuse</button>
<button id="allow" type="button">Allow</button>
</section>
<button id="sign-in" type="button" hidden>Sign in</button>`

const script = `
const at = (id) => document.getElementById(id)
const id = /^#[0-9a-f-]{36}$/.test(location.hash) ? location.hash.slice(1) : undefined
const say = (message) => { at("text").textContent = message }
const call = async (method, path, body) => {
  const answer = await fetch("/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  return { status: answer.status, body: await answer.json() }
}
const option = (value, text) => {
  const made = document.createElement("option")
  made.value = value
  made.textContent = text
  return made
}
const scopes = { "read write": "Read and write", read: "Read only" }
const unreachable = () => {
  for (const name of ["allow", "refuse"]) at(name).disabled = false
  say("The server does not answer. Try again.")
}
const leadToSignIn = () => {
  location.assign("/sign-in?returnTo=" + encodeURIComponent("/authorize#" + id))
}
const end = (message) => {
  at("request").hidden = true
  at("sign-in").hidden = true
  say(message)
}
const show = ({ client, host, loopback, redirectUri, scope, workspaces }) => {
  say("Somebody asks for access:")
  at("host").textContent = host
  at("asks").textContent = loopback
    ? "That is your own computer: allow it only if you have just begun to sign in with a program there."
    : "Allow it only if you have just begun to sign in there. You will be sent to " + redirectUri
  at("client").textContent = "It calls itself \\u201c" + client.name + "\\u201d, and nobody has checked that. " +
    (client.kind === "document" ? "It is described at " + client.id : "It has registered itself here.")
  at("workspace").replaceChildren(...workspaces.map(({ id, name, role }) => option(id, name + " (you are " + role + ")")))
  const offered = scope === "read" ? ["read"] : ["read write", "read"]
  at("scope").replaceChildren(...offered.map((value) => option(value, scopes[value])))
  at("allow").hidden = workspaces.length === 0
  if (workspaces.length === 0) say("You are in no workspace that it could be let into. It asks for access:")
  at("request").hidden = false
  at("sign-in").hidden = true
  at("refuse").focus()
}
const start = async () => {
  if (id === undefined) return end("This address is not complete. Begin again in the program that sent you here.")
  const methods = await call("GET", "methods")
  if (!methods.body.available) return end("Browsers cannot sign in here: the address of this service, BASE_URL, must be https.")
  const found = await call("GET", "authorizations/" + id)
  if (found.status === 401) {
    say("Sign in first. Then you come back to this page.")
    at("sign-in").hidden = false
    return leadToSignIn()
  }
  if (found.status === 404) return end("This request was answered already, or is too old. Begin again in the program that sent you here.")
  if (found.status !== 200) return end(found.body.message)
  show(found.body)
}
const decide = async (decision) => {
  for (const name of ["allow", "refuse"]) at(name).disabled = true
  try {
    const decided = await call("POST", "authorizations/" + id, decision)
    if (decided.status === 200) {
      end("You can close this page.")
      return location.assign(decided.body.location)
    }
    if (decided.status === 401 || decided.body.reason === "sudo_required") return leadToSignIn()
    if (decided.status === 404) return end("This request was answered already, or is too old. Begin again in the program that sent you here.")
    for (const name of ["allow", "refuse"]) at(name).disabled = false
    say(decided.body.message)
  } catch {
    unreachable()
  }
}
at("allow").addEventListener("click", () => decide({ allow: true, workspace: at("workspace").value, scope: at("scope").value }))
at("refuse").addEventListener("click", () => decide({ allow: false }))
at("sign-in").addEventListener("click", leadToSignIn)
start().catch(unreachable)
`

const response = htmlPage({ title: "Allow access", style, body, script })

export const layer = HttpRouter.use((router) => router.add("GET", "/authorize", Effect.succeed(response)))
