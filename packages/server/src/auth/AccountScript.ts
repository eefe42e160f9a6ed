/**
 * What "Your account" does on the page `/sign-in` (AccountSection.ts), over `sessionScript`: it lists where the person is
 * signed in, by what they sign in, their coding agents and their API keys. It ends them, adds accounts, and makes a key.
 */
export const accountScript = `
const day = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" })
const moment = (time) => new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
const lastUsed = (time) => time === null ? "never used" : "last used " + day(time)
const item = (text, details, ...buttons) => {
  const one = document.createElement("li")
  const label = document.createElement("span")
  label.textContent = text
  if (details !== undefined) {
    const small = document.createElement("small")
    small.textContent = details
    label.append(small)
  }
  one.append(label, ...buttons)
  return one
}
// Where the website has a page of the workspace.
const linkTo = ({ name, slug }) => {
  const link = document.createElement("a")
  link.href = "/w/" + slug
  link.textContent = "Open"
  link.setAttribute("aria-label", "Open " + name)
  return link
}
const workspaceItem = (workspace) => item(workspace.name + " (" + workspace.role + ")", workspace.slug, ...hasWebsite ? [linkTo(workspace)] : [])
const buttonFor = (text, subject) => {
  const button = document.createElement("button")
  button.type = "button"
  entitleButton(button, text, subject)
  return button
}
// The session that the page shows. In another tab somebody else may have signed in since.
let shown
// Otherwise the account is shown that the browser has by now.
const asShown = asPerson(() => shown.person, (now) => now === undefined ? offer(sessionEnded) : show(now, somebodyElse))
// The same for what may need a fresh proof: then the page asks who it is, and goes on at that part.
const acting = (what, part, work) => asShown(async (session) => {
  try {
    await work(session)
  } catch (error) {
    if (error.reason !== "sudo_required") throw error
    await askWho(session, what, part)
  }
})
const askWho = (session, what, part) => {
  interrupted = part
  return confirmWho(session, "Before you " + what + ", confirm that it is you", "cancel")
}
// The row of the button is gone from its list: that is said, and the keyboard goes on at the next one.
const removed = (news, list, button) => {
  const index = Math.max(0, [...at(list).children].indexOf(button.closest("li")))
  tell(news)
  return run(async () => {
    await showLists()
    const buttons = [...at(list).children].map((row) => [...row.querySelectorAll("button")].at(-1))
    const next = buttons.slice(index).find(Boolean) ?? buttons.slice(0, index).findLast(Boolean)
    ;(next ?? at(at(list).getAttribute("aria-labelledby"))).focus()
  })
}
const sessionItem = ({ address, createdAt, current, device, id, lastSeenAt }) => {
  const since = ", signed in " + moment(createdAt)
  if (current) return item(device, address + ", this browser" + since)
  const details = address + since + ", last seen " + moment(lastSeenAt)
  const button = buttonFor("End", "the session of " + device + ", " + details)
  doing(button, acting("end a session", "sessions-title", async () => {
    await call("DELETE", "sessions/" + id, { expected: [404] })
    await removed("That session has ended.", "session-list", button)
  }))
  return item(device, details, button)
}
const wayInItem = (path, kind, name, { createdAt, lastUsedAt }) => {
  const added = ", added " + moment(createdAt)
  const button = buttonFor("Remove", name + added)
  doingTwice(button, acting("remove a way to sign in", "ways-title", async () => {
    const { body, status } = await call("DELETE", path, { expected: [404, "last_method"] })
    if (status === 409) return warn(body.message)
    await removed(named(name) + added + ", no longer signs you in.", "way-list", button)
  }), { subject: name + added })
  return item(name, kind + added + ", " + lastUsed(lastUsedAt), button)
}
const passkeyItem = (passkey) => {
  const row = wayInItem("passkeys/" + passkey.id, "Passkey", passkey.name, passkey)
  const [label, remove] = row.children
  const subject = passkey.name + ", added " + moment(passkey.createdAt)
  const button = buttonFor("Rename", subject)
  const field = Object.assign(document.createElement("input"), { autocomplete: "off", hidden: true, id: passkey.id, maxLength: 100, type: "text" })
  field.setAttribute("aria-label", "New name of the passkey " + subject)
  const edit = (isOn) => {
    field.hidden = !isOn
    label.hidden = remove.hidden = isOn
    entitleButton(button, isOn ? "Save" : "Rename", subject)
  }
  const rename = acting("rename a passkey", "ways-title", async () => {
    const name = field.value.trim()
    if (name === "") return wrong(field.id, "Type a name for the passkey first.")
    const { body, status } = await call("PATCH", "passkeys/" + passkey.id, { body: { name }, expected: [400, 404] })
    if (status === 400) return wrong(field.id, body.message)
    tell(status === 404 ? "That passkey was removed meanwhile." : "The passkey " + named(passkey.name) + " is called " + named(body.name) + " now.")
    edit(false)
    await run(showLists)
    at(passkey.id)?.nextElementSibling.focus()
  })
  doing(button, () => {
    if (!field.hidden) return rename()
    field.value = passkey.name
    edit(true)
    field.select()
  })
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") button.click()
    if (key !== "Escape") return
    clear()
    edit(false)
    button.focus()
  })
  label.after(field, button)
  return row
}
const accountName = ({ email, provider }) => {
  const { name = provider } = methods.providers.find(({ id }) => id === provider) ?? {}
  return email === null ? name : name + ": " + email
}
const identityItem = (identity) => wayInItem("identities/" + identity.id, "Account", accountName(identity), identity)
const keyItem = ({ createdAt, id, lastFour, lastUsedAt, name }) => {
  const subject = name + ", ends with " + lastFour
  const button = buttonFor("Revoke", subject)
  doingTwice(button, acting("revoke a key", "keys-title", async () => {
    await call("POST", "/v1/api-keys/" + id + "/revoke", { expected: [404] })
    if (made === id) forgetKey()
    await removed("API key " + named(name) + ", which ends with " + lastFour + ", is revoked.", "key-list", button)
  }), { subject })
  return item(name, "Ends with " + lastFour + ", made " + day(createdAt) + ", " + lastUsed(lastUsedAt), button)
}
const agentItem = (workspace, { computers, createdAt, id, lastSeenAt, name }) => {
  const place = workspace.name + " (" + workspace.slug + ")"
  const subject = name + " in " + place
  const button = buttonFor("Revoke", subject)
  doingTwice(button, acting("revoke an agent", "agents-title", async () => {
    await call("POST", "/v1/workspaces/" + workspace.slug + "/agents/" + id + "/revoke", { expected: [404] })
    await removed("Agent " + named(name) + " in " + place + " is revoked.", "agent-list", button)
  }), { subject })
  const computer = computers.length === 0 ? "" : " on " + computers.map(({ name }) => name).join(", ")
  return item(name + computer, "In " + place + ", connected " + day(createdAt) + ", " + lastUsed(lastSeenAt), button)
}
const accountButton = ({ id, name, url }) => {
  const button = buttonFor("Add an account at " + name)
  doing(button, acting("add a way to sign in", "ways-title", async (session) => {
    // The provider is visited by the browser, to which the server could not say that it needs a fresh proof.
    if (session.session.sudoUntil === null) return askWho(session, "add a way to sign in", "ways-title")
    const { identities } = await waysIn()
    sessionStorage.setItem("adding", JSON.stringify({ known: identities.map(({ id }) => id), provider: id }))
    location.assign(url + "?purpose=link&returnTo=/sign-in")
  }))
  return button
}
// What came of adding an account, if the browser was at a provider for that, and nothing is wrong.
const takeAdded = (identities) => {
  const { known, provider: wanted } = JSON.parse(sessionStorage.getItem("adding") ?? "{}")
  sessionStorage.removeItem("adding")
  if (wanted === undefined || at("problem").textContent !== "") return undefined
  const added = identities.find(({ id, provider }) => provider === wanted && !known.includes(id))
  return added === undefined ? "That account signs you in already." : "Your account " + named(accountName(added)) + " signs you in from now on."
}
// What each list shows. Rows that are as they were stay, with what is typed or to be confirmed in them.
const filled = {}
const fill = (id, data, items) => {
  const state = JSON.stringify(data)
  if (filled[id] === state) return
  filled[id] = state
  at(id).replaceChildren(...items)
  at(id).hidden = items.length === 0
}
const agentsIn = async (workspace) => {
  // Where the person is a member no longer, they have no agents.
  const { body, status } = await call("GET", "/v1/workspaces/" + workspace.slug + "/agents?person=me", { expected: [404] })
  return status === 404 ? [] : body.agents.map((agent) => ({ agent, workspace }))
}
// What the person loses by signing out, as the lists have it.
let loss
// Lists what the person of the shown session has, once the server has told all of it.
const showLists = async () => {
  const { person, workspaces } = shown
  const [{ body: { sessions } }, { body: keys }, ways, agents] = await Promise.all([
    call("GET", "sessions"),
    call("GET", "/v1/api-keys"),
    waysIn(),
    Promise.all(workspaces.map(agentsIn))
  ])
  loss = lossOf(person, ways)
  at("loss").textContent = loss ?? ""
  at("loss").hidden = loss === undefined
  at("verify").hidden = !methods.mail || person.emailVerifiedAt !== null
  at("unproven").hidden = loss === undefined && at("verify").hidden
  fill("session-list", sessions, sessions.map(sessionItem))
  at("end-others").hidden = sessions.length < 2
  const mails = ways.mail ? [item(person.email, "Email, verified")] : []
  fill("way-list", [person.email, ways], [...mails, ...ways.passkeys.map(passkeyItem), ...ways.identities.map(identityItem)])
  at("add-passkey").hidden = !hasPasskeys()
  const providers = usable(methods.providers)
  fill("add-accounts", providers, providers.map(accountButton))
  at("ways-in").hidden = at("way-list").hidden && at("add-passkey").hidden && providers.length === 0
  fill("key-list", keys, keys.map(keyItem))
  fill("agent-list", agents, agents.flat().map(({ agent, workspace }) => agentItem(workspace, agent)))
  at("no-agents").hidden = !at("agent-list").hidden
  at("some-agents").hidden = at("agent-list").hidden
  return ways
}
// The id of the key that was made last, while its secret is shown.
let made
const forgetKey = () => {
  made = undefined
  at("secret").value = ""
  at("made").hidden = true
}
doing(at("end-others"), acting("end your other sessions", "end-others", async () => {
  await call("POST", "sessions/revoke-others")
  tell("You are signed out everywhere else.")
  await run(showLists)
  if (at("end-others").hidden) at("sessions-title").focus()
}))
doing(at("make-key"), () => {
  const name = at("key-name").value.trim()
  return name === "" ? wrong("key-name", "Type a name for the key first.") : makeKey(name)
})
const makeKey = (name) => acting("make an API key", "make-key", async () => {
  const { body, status } = await call("POST", "/v1/api-keys", { body: { name }, expected: [400, "too_many_keys"] })
  if (status === 400) return wrong("key-name", body.message)
  if (status === 409) return warn(body.message)
  made = body.id
  at("key-name").value = ""
  at("secret").value = body.secret
  at("made").hidden = false
  tell("API key " + named(name) + " is made. Copy it now: it is shown this once.")
  at("copy").focus()
  await run(showLists)
})()
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
