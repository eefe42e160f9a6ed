/**
 * What "Your account" does on the page `/sign-in` (AccountSection.ts): it lists where the person is signed in, by what they
 * sign in, and their API keys. It ends them, and makes a key.
 */
export const accountScript = `
const sessionEnded = "Your session has ended. Sign in again."
const isEnded = ({ body, status }) => status === 401 && body.reason !== "sign_in_failed"
const day = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" })
const moment = (time) => new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
const lastUsed = (time) => time === null ? "never used" : "last used " + day(time)
const item = (text, button, details) => {
  const one = document.createElement("li")
  const label = document.createElement("span")
  label.textContent = text
  if (details !== undefined) {
    const small = document.createElement("small")
    small.textContent = details
    label.append(small)
  }
  one.append(label, ...(button === undefined ? [] : [button]))
  return one
}
const entitleButton = (button, text, subject) => {
  button.textContent = text
  button.setAttribute("aria-label", text + " " + subject)
}
const buttonFor = (text, subject) => {
  const button = document.createElement("button")
  button.type = "button"
  entitleButton(button, text, subject)
  return button
}
// What cannot be taken back is pressed twice.
const doingTwice = (button, subject, work) => {
  const text = button.textContent
  let isSure = false
  const arm = (value) => {
    isSure = value
    entitleButton(button, isSure ? "Really " + text.toLowerCase() + "?" : text, subject)
  }
  button.addEventListener("blur", () => button.disabled || arm(false))
  doing(button, async ({ detail }) => {
    // The second click of a double click is none.
    if (detail > 1) return
    if (!isSure) return arm(true)
    try {
      if (await isStillShown()) await work()
    } finally {
      arm(false)
    }
  })
}
// The person whose account the page shows. In another tab somebody else may have signed in since.
let shown
const isStillShown = async () => {
  const session = await call("GET", "session")
  if (session.status !== 200) offer(sessionEnded)
  else if (session.body.person.id !== shown) await show(session.body, "Somebody else has signed in with this browser. ")
  else return true
  return false
}
// Whether it was done. Else it says why not, and asks again who it is.
const isDone = async (answer, what, part) => {
  if (answer.status < 300) return true
  if (isEnded(answer)) offer(sessionEnded)
  else if (answer.body.reason === "sudo_required") {
    const { body } = await call("GET", "session")
    interrupted = part
    offer("Before you " + what + ", confirm that it is you: you signed in a while ago.", body.person?.email, "cancel")
  } else warn(answer.body.message)
  return false
}
const tell = (message) => {
  say(message)
  focusText()
}
const sessionItem = ({ address, createdAt, current, device, id, lastSeenAt }) => {
  const since = ", signed in " + moment(createdAt)
  if (current) return item(device, undefined, address + ", this browser" + since)
  const details = address + since + ", last seen " + moment(lastSeenAt)
  const button = buttonFor("End", "the session of " + device + ", " + details)
  doing(button, async () => {
    if (!(await isStillShown())) return
    const done = await call("DELETE", "sessions/" + id)
    if (done.status !== 404 && !(await isDone(done, "end a session", "sessions"))) return
    if (await list()) tell("That session has ended.")
  })
  return item(device, button, details)
}
const wayInItem = (path, name, details) => {
  const button = buttonFor("Remove", name)
  doingTwice(button, name, async () => {
    const done = await call("DELETE", path)
    if (done.status !== 404 && !(await isDone(done, "remove a way to sign in", "ways-in"))) return
    if (await list()) tell(named(name) + " no longer signs you in.")
  })
  return item(name, button, details)
}
const passkeyItem = ({ createdAt, id, lastUsedAt, name }) =>
  wayInItem("passkeys/" + id, name, "Passkey, added " + day(createdAt) + ", " + lastUsed(lastUsedAt))
const identityItem = ({ createdAt, email, id, lastUsedAt, provider }) => {
  const { name = provider } = methods.providers.find(({ id }) => id === provider) ?? {}
  return wayInItem("identities/" + id, email === null ? name : name + ": " + email, "Account, added " + day(createdAt) + ", " + lastUsed(lastUsedAt))
}
const keyItem = ({ createdAt, id, lastFour, lastUsedAt, name }) => {
  const button = buttonFor("Revoke", name)
  doingTwice(button, name, async () => {
    const done = await call("POST", "/v1/api-keys/" + id + "/revoke")
    if (done.status !== 404 && !(await isDone(done, "revoke a key", "keys"))) return
    if (made === id) forgetKey()
    if (await list()) tell("API key " + named(name) + " is revoked.")
  })
  return item(name, button, "Ends with " + lastFour + ", made " + day(createdAt) + ", " + lastUsed(lastUsedAt))
}
const agentItem = (slug, workspace, { computers, createdAt, id, lastSeenAt, name }) => {
  const button = buttonFor("Revoke", name + " in " + workspace)
  doingTwice(button, name + " in " + workspace, async () => {
    const done = await call("POST", "/v1/workspaces/" + slug + "/agents/" + id + "/revoke")
    if (done.status !== 404 && !(await isDone(done, "revoke an agent", "agents"))) return
    if (await list()) tell("Agent " + named(name) + " is revoked.")
  })
  const places = computers.length === 0 ? "" : " on " + computers.map(({ name }) => name).join(", ")
  return item(name + places, button, "In " + workspace + ", connected " + day(createdAt) + ", " + lastUsed(lastSeenAt))
}
const fill = (id, items) => {
  at(id).replaceChildren(...items)
  at(id).hidden = items.length === 0
}
// The workspaces of the person, in which they may have agents.
let places = []
// Lists what the person has, unless they are no longer signed in.
const list = async (workspaces = places) => {
  places = workspaces
  const asked = ["sessions", "passkeys", "identities", "/v1/api-keys"].map((path) => call("GET", path))
  const answers = await Promise.all(asked)
  const refused = answers.find(({ status }) => status !== 200)
  if (refused !== undefined) {
    if (isEnded(refused)) offer(sessionEnded)
    else warn(refused.body.message)
    return !isEnded(refused)
  }
  const [{ sessions }, { passkeys }, { identities }, keys] = answers.map(({ body }) => body)
  fill("session-list", sessions.map(sessionItem))
  at("end-others").hidden = sessions.length < 2
  fill("way-list", [...passkeys.map(passkeyItem), ...identities.map(identityItem)])
  at("ways-in").hidden = passkeys.length + identities.length === 0 && at("add-passkey").hidden
  fill("key-list", keys.map(keyItem))
  const agents = await Promise.all(workspaces.map(async ({ name, slug }) => {
    const { body, status } = await call("GET", "/v1/workspaces/" + slug + "/agents?person=me")
    return status === 200 ? body.agents.map((agent) => agentItem(slug, name, agent)) : []
  }))
  fill("agent-list", agents.flat())
  at("agents").hidden = agents.flat().length === 0
  return true
}
// The id of the key that was made last, while its secret is shown.
let made
const forgetKey = () => {
  made = undefined
  at("secret").value = ""
  at("made").hidden = true
}
doing(at("end-others"), async () => {
  if (!(await isStillShown())) return
  const done = await call("POST", "sessions/revoke-others")
  if (!(await isDone(done, "end your other sessions", "end-others")) || !(await list())) return
  tell("You are signed out everywhere else.")
})
doing(at("make-key"), async () => {
  const name = at("key-name").value.trim()
  if (name === "") {
    warn("Type a name for the key first.")
    return at("key-name").focus()
  }
  if (!(await isStillShown())) return
  const done = await call("POST", "/v1/api-keys", { name })
  if (!(await isDone(done, "make an API key", "make-key"))) return
  made = done.body.id
  at("key-name").value = ""
  at("secret").value = done.body.secret
  at("made").hidden = false
  if (!(await list())) return
  say("API key " + named(name) + " is made. Copy it now: it is shown this once.")
  at("copy").focus()
})
doing(at("copy"), async () => {
  try {
    await navigator.clipboard.writeText(at("secret").value)
    tell("The key is copied. Keep it where you keep passwords.")
  } catch {
    at("secret").select()
    warn("Your browser copied nothing. Copy the marked key yourself.")
  }
})
onEnter("key-name", "make-key")
`
