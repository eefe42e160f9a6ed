import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { consentScript } from "../auth/ConsentScript.ts"
import { sessionScript } from "../auth/SessionScript.ts"
import { Settings } from "../Config.ts"
import { htmlPage } from "../http/HtmlPage.ts"

/**
 * `GET /authorize`: what stands behind `#` in the address is the id of an authorization. The page shows who asks for access,
 * first of all where the access goes, and answers by `fetch` (`ConsentScript.ts`).
 */

const body = `<section id="request" aria-labelledby="text host" hidden>
<div class="notice">
<p id="host"></p>
<p id="client"></p>
<p id="asks"></p>
</div>
<p class="row"><span id="who"></span> <button id="other-account" class="link" type="button">Use another account</button></p>
<div id="choice">
<label for="workspace">Workspace</label>
<select id="workspace" aria-describedby="limits"></select>
</div>
<p id="limits" class="muted">It can see who you are in this workspace, and take and answer the messages that are sent to it. It can do nothing else.</p>
<div class="row">
<button id="allow" class="primary" type="button">Allow</button>
<button id="refuse" type="button">Refuse</button>
</div>
</section>
<button id="sign-in" class="primary" type="button" hidden>Sign in</button>`

const source = `
const option = (value, text) => {
  const made = document.createElement("option")
  made.value = value
  made.textContent = text
  return made
}
const keep = () => {
  if (at("workspace").value !== "") sessionStorage.setItem("workspace of " + id, at("workspace").value)
}
const show = ({ client, host, loopback, redirectUri, workspaces }) => {
  say((workspaces.length === 0 ? "You are in no workspace that it could be let into. " : "") +
    (loopback ? "A program on your own computer" : "A program") + " asks to act for you here.")
  at("host").textContent = host
  at("client").textContent = "It calls itself " + named(client.name) + ", and nobody has checked that. " +
    (client.kind === "document" ? "It is described at " + client.id : "It has registered itself here.")
  at("asks").textContent = loopback
    ? "Allow it only if you have just begun to sign in with a program on this computer."
    : "Allow it only if you have just begun to sign in there. You will be sent to " + redirectUri
  // Of several, one is chosen by the person, never by the page.
  const none = workspaces.length > 1 ? [option("", "Choose a workspace")] : []
  at("workspace").replaceChildren(...none, ...workspaces.map(({ id, name, role, slug }) => option(id, name + " (" + slug + "), you are " + role)))
  const chosen = sessionStorage.getItem("workspace of " + id)
  if (workspaces.some(({ id }) => id === chosen)) at("workspace").value = chosen
  for (const name of ["allow", "choice", "limits"]) at(name).hidden = workspaces.length === 0
}
const allowing = (person) => {
  const workspace = at("workspace").value
  return workspace === "" ? wrong("workspace", "Choose a workspace first.") : { allow: true, workspace, person: person.id }
}
const invalid = ({ message }) => warn(message)
const done = ({ allow }) => "You have " + (allow ? "allowed" : "refused") + " it. You can close this page."
${consentScript({ page: "/authorize", calls: "authorizations/", asker: "/client" })}`

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Settings, ({ baseUrl }) => {
    const script = { source: `${sessionScript}${source}`, baseUrl }
    return router.add("GET", "/authorize", Effect.succeed(htmlPage({ title: "Allow access?", body, script })))
  })
)
