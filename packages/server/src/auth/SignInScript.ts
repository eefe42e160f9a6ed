import { codeForm } from "../ids/Codes.ts"
import { mostTries } from "./MailedProofs.ts"

/** What the page `/sign-in` does (SignInPage.ts), over `sessionScript` and `accountScript`. */
export const signInScript = `
const problems = new Map([
  ["denied", "You did not sign in there."],
  ["failed", "Signing in failed. Try again."],
  ["address_not_verified", "Your address is not verified there, so it does not say who you are here."],
  ["no_account", "Nobody here has your address, and no invite to it is pending. Ask for an invite."],
  ["other_account", "That account is not one by which you sign in. Confirm with another one, or another way."],
  ["other_person", "That account signs somebody else in."],
  ["too_many", "You sign in by 10 accounts already, which is the limit. Remove one first."],
  ["unavailable", "The provider gives no answer that can be used. Try again later, or another way."]
])
const incomplete = "This address is not complete. Open the link again, or copy all of it."
const answered = "This request was answered already, or is too old. Begin again in the program that sent you here."
const helped = "Ask the person who runs this service for a sign-in link."
const madeBy = "If that is you, make one on its host:"
const parts = ["reason", "use", "unproven", "passkey", "providers", "by-code", "by-mail", "help", "host-command", "cancel", "other", "enter-workspace", "account"]
const only = (...names) => {
  for (const name of parts) at(name).hidden = !names.includes(name)
  document.querySelector("main").classList.toggle("wide", names.includes("account"))
  if (!names.includes("account")) forgetKey()
}
const reasonIfAny = () => at("reason").textContent === "" ? [] : ["reason"]
const entitle = (title) => {
  at("title").textContent = title
  document.title = title + " · Workspace Delivery Service"
}

// Where to go on afterwards: kept a while, since a link may open in another tab.
const isWayBack = (text) => /^\\/(?:authorize|cli)#[0-9a-f-]{36}$/.test(text)
const pending = () => {
  const { path, until } = JSON.parse(localStorage.getItem("returnTo") ?? "{}")
  return isWayBack(path) && until > Date.now() ? path : undefined
}
// Where somebody was on the website when their session was over, or had not begun.
const isPlace = (text) => hasWebsite && /^\\/w\\/[^\\\\]+$/.test(text)
const keptPlace = () => {
  const { path, until } = JSON.parse(localStorage.getItem("place") ?? "{}")
  return isPlace(path) && until > Date.now() ? path : undefined
}
// Whoever has signed in goes on there, or begins at the start of the website. Where there is none, they stay.
const goOn = () => {
  const path = keptPlace() ?? "/"
  localStorage.removeItem("place")
  if (hasWebsite) location.replace(path)
  return hasWebsite
}
const askerAt = (path) => {
  const [page, id] = path.split("#")
  return call("GET", page === "/cli" ? "cli/logins/" + id + "/program" : "authorizations/" + id + "/client", { expected: [404] })
}
const goBack = async () => {
  const path = pending()
  const isOpen = path !== undefined && (await askerAt(path)).status === 200
  localStorage.removeItem("returnTo")
  if (isOpen) location.replace(path)
  return isOpen
}
// For whom one signs in; undefined for nobody who still waits for an answer.
const explain = async (wayBack) => {
  at("reason").textContent = ""
  if (wayBack === undefined) return undefined
  const { body, status } = await askerAt(wayBack)
  if (status === 404) {
    localStorage.removeItem("returnTo")
    warn(answered)
    return undefined
  }
  at("reason").textContent = (body.host === null ? "A program on another computer" : "The program at " + body.host) + ", which calls itself " + named(body.name) + ", asks for access. You decide about it after this."
  return wayBack
}

const isReloaded = () => performance.getEntriesByType("navigation")[0]?.type === "reload"
// What the address says, which then says it no longer. A link stays with the page when that is loaded again, until it is used.
const arrive = () => {
  const { hash, search } = location
  const [, kind, token] = /^#(prove-)?(ltk_[0-9A-Za-z]{42})$/.exec(hash) ?? []
  const [, joined] = /^#joined-([0-9a-f-]{36})$/.exec(hash) ?? []
  const asked = new URLSearchParams(search).get("returnTo") ?? ""
  const returnTo = isWayBack(asked) ? asked : undefined
  const place = isPlace(asked) ? asked : undefined
  const isConfirming = place !== undefined && new URLSearchParams(search).has("confirm")
  const error = problems.get(new URLSearchParams(hash.slice(1)).get("error"))
  const isBroken = hash !== "" && (token ?? joined ?? error) === undefined
  const link = token !== undefined ? { isVerifying: kind !== undefined, token } : hash === "" ? history.state?.link : undefined
  history.replaceState(link === undefined ? null : { link }, "", location.pathname)
  pointHome(link === undefined ? "/sign-in" : "/sign-in#" + (link.isVerifying ? "prove-" : "") + link.token)
  if (returnTo !== undefined) localStorage.setItem("returnTo", JSON.stringify({ path: returnTo, until: Date.now() + 600_000 }))
  else if (hash === "" && !isReloaded()) localStorage.removeItem("returnTo")
  if (place !== undefined) localStorage.setItem("place", JSON.stringify({ path: place, until: Date.now() + 600_000 }))
  else if (hash === "" && !isReloaded()) localStorage.removeItem("place")
  return { link, joined, returnTo, isConfirming, isFailed: error !== undefined, problem: isBroken ? incomplete : error ?? "" }
}
const forgetLink = () => {
  history.replaceState(null, "", location.pathname)
  pointHome("/sign-in")
}
let arrived

// What the person was doing when they were asked who they are.
let interrupted = "text"
const takeInterrupted = () => {
  const part = sessionStorage.getItem("interrupted")
  sessionStorage.removeItem("interrupted")
  if (part !== null) interrupted = part
}
// Whom the page asks for a fresh proof; undefined where somebody signs in.
let confirming
// Where somebody goes back to who has no code.
let retreat
const startAgain = () => start({ isFailed: false, problem: "", returnTo: arrived.returnTo })
const providerLink = ({ name, url }, words, purpose) => {
  const one = document.createElement("a")
  one.className = "button"
  const path = pending() ?? keptPlace()
  const here = path === undefined ? (hasWebsite && purpose === "sign-in" ? keptPlace() ?? "/" : "/sign-in") : "/sign-in?returnTo=" + encodeURIComponent(path)
  one.href = url + "?purpose=" + purpose + "&returnTo=" + encodeURIComponent(here)
  one.textContent = words + " " + name
  one.addEventListener("click", () => purpose === "sudo" && sessionStorage.setItem("interrupted", interrupted))
  return one
}
// Names the ways by what they are for, and answers the parts that show them.
const prepareWays = ({ hasPasskey, mailTo, providers, purpose, words }) => {
  at("passkey").textContent = words + " a passkey"
  at("providers").replaceChildren(...providers.map((provider) => providerLink(provider, words, purpose)))
  at("address").hidden = mailTo !== undefined
  at("ask").textContent = mailTo === undefined ? "Email me a sign-in link" : "Email a code to " + mailTo
  return [...(hasPasskey ? ["passkey"] : []), ...(providers.length > 0 ? ["providers"] : [])]
}
const focusWay = (ways) => {
  if (ways.includes("passkey")) return at("passkey").focus()
  if (!ways.includes("by-mail")) return focusText()
  return (at("address").hidden ? at("ask") : at("email")).focus()
}
const otherwise = (ways) => (ways.length === 1 ? "Does this not work? " : "Does none of this work? ")
// Ways in for whoever it is. The address that somebody has typed stays.
const offer = (news, text = "") => {
  shown = confirming = undefined
  retreat = startAgain
  entitle("Sign in")
  const others = prepareWays({ hasPasskey: hasPasskeys(), providers: usable(methods.providers), purpose: "sign-in", words: "Sign in with" })
  const ways = [...others, ...(methods.mail ? ["by-mail"] : [])]
  say(ways.length === 0 ? (text + " To sign in, open a sign-in link.").trim() : text)
  tell(news)
  at("help").textContent = ways.length === 0 ? helped : otherwise(ways) + helped
  only(...ways, "help", ...reasonIfAny())
  focusWay(ways)
}
// Asks the person of the session for a proof that they have, which is fresh then.
const confirmWho = async (session, message, ...more) => {
  const { person } = session
  const ways = await waysIn()
  const hasPasskey = hasPasskeys() && ways.passkeys.length > 0
  const isProven = person.emailVerifiedAt !== null
  // A proven address is enough for a provider that has verified it, too.
  const providers = usable(hasPasskey || ways.mail || ways.providers.length > 0 || !isProven ? ways.providers : methods.providers)
  shown = session
  confirming = person
  loss = lossOf(person, ways, " on the page of your account")
  retreat = () => confirmWho(session, message, ...more)
  entitle("Confirm that it is you")
  const others = prepareWays({ hasPasskey, mailTo: person.email, providers, purpose: "sudo", words: "Confirm with" })
  const offered = [...others, ...(ways.mail ? ["by-mail"] : [])]
  const mayVerify = offered.length === 0 && methods.mail && !isProven
  say(message + ": you signed in a while ago, as " + whoIs(person) + "." + (mayVerify ? " You have nothing yet to confirm it with: verify your address first." : offered.length === 0 ? " To do so, open a sign-in link." : ""))
  at("loss").hidden = true
  at("verify").hidden = !mayVerify
  const isStuck = offered.length === 0 && !mayVerify
  at("help").textContent = isStuck ? helped + " " + madeBy : otherwise(offered) + helped
  at("host-command").textContent = isStuck ? "pnpm delivery sign-in-link " + person.email : ""
  only(...offered, ...(mayVerify ? ["unproven"] : []), "help", ...(isStuck ? ["host-command"] : []), "other", ...more, ...reasonIfAny())
  if (mayVerify) at("verify").focus()
  else focusWay(offered)
}

const codes = {
  "sign-in": {
    title: "Sign in",
    path: "links/consume",
    text: () => "If " + (typed === "" ? "this" : typed) + " is the verified address of an account, an email is on its way to it."
  },
  confirm: { title: "Confirm that it is you", path: "sudo", text: () => "An email is on its way to " + shown.person.email + "." },
  verify: { title: "Your account", path: "email/consume", text: () => "An email is on its way to " + shown.person.email + "." }
}
// The address that somebody typed, while the page is open.
let typed = ""
// The mail that was asked for, so that a page that is loaded again has the field of its code. Neither address nor secret.
let asked = {}
const keepAsked = (fields) => {
  asked = { ...asked, ...fields }
  sessionStorage.setItem("asked", JSON.stringify(asked))
}
const awaitNoCode = () => {
  asked = {}
  sessionStorage.removeItem("asked")
}
const awaitsCode = (session) => {
  asked = JSON.parse(sessionStorage.getItem("asked") ?? "{}")
  const { purpose, until } = asked
  if (!(until > Date.now()) || (purpose === "sign-in") !== (session === undefined)) return false
  return purpose !== "verify" || session.person.emailVerifiedAt === null
}
const offerCode = () => {
  const { text, title } = codes[asked.purpose]
  entitle(title)
  say(text() + " Type its code here" + (isHome ? ", or open its link in this browser" : "") + ". Nothing after a few minutes? Go back and ask again.")
  at("help").textContent = "No email comes to an address that was never verified. Was yours not? " + helped
  only("by-code", ...(asked.purpose === "sign-in" ? ["help"] : []), ...reasonIfAny())
  at("code").value = ""
  at("code").focus()
}
const awaitCode = (purpose) => {
  keepAsked({ purpose, tries: 0, until: Date.now() + 900_000 })
  offerCode()
}

const inviterOf = ({ inviter }) => inviter.name ?? "somebody who has left"
const join = (invite) => {
  const { name, slug } = invite.workspace
  const place = name + " (" + slug + ")"
  const button = buttonFor("Join", place)
  doing(button, asShown(async () => {
    const { body, status } = await call("POST", "invites/" + invite.id + "/accept", { expected: [404, 409] })
    if (status === 200) return show(body, "You have joined " + named(name) + " as " + invite.role + ".", invite.workspace)
    warn(status === 404 ? "That invite was revoked or has expired. Ask whoever invited you for another one." : body.message)
  }))
  return item(place + ", as " + invite.role + ", from " + inviterOf(invite), undefined, button)
}
const show = (session, news = "", joined = undefined) => {
  const { invites, person, workspaces } = session
  if (at("account").hidden || shown?.person.id !== person.id) only()
  shown = session
  confirming = undefined
  retreat = startAgain
  at("email").value = ""
  entitle("Your account")
  fill("workspaces", workspaces, workspaces.map(workspaceItem))
  at("invites").replaceChildren(...invites.map(join))
  at("invited").hidden = invites.length === 0
  say("You are signed in as " + whoIs(person) + "." + (workspaces.length === 0 ? " This session enters no workspace: you are in none, or it is blocked there." : ""))
  const isEntered = hasWebsite && joined !== undefined
  if (isEntered) {
    at("enter-workspace").href = "/w/" + joined.slug
    at("enter-workspace").textContent = "Open " + joined.name
  }
  const isProven = interrupted !== "text" && session.session.sudoUntil !== null
  tell(news === "" && isProven ? "You have confirmed that it is you. Now press the button again." : news)
  return run(async () => {
    const { identities } = await showLists()
    const added = takeAdded(identities)
    if (added !== undefined) tell(added)
    only(...(at("unproven").hidden ? [] : ["unproven"]), ...(isEntered ? ["enter-workspace"] : []), "account")
    const next = at(isEntered && interrupted === "text" ? "enter-workspace" : interrupted)
    interrupted = "text"
    if (isShown(next)) next.focus()
    else focusText()
  })
}
// Goes on as who is signed in now. What signed them in is not done again where this fails.
const showSession = (news) => {
  awaitNoCode()
  only()
  say("")
  return run(async () => {
    const session = await currentSession()
    if (session === undefined) return say("Your browser did not keep the session. Safari keeps none from an http address, not even on this computer: use another browser, or https.")
    if (await goBack()) return
    if ((confirming !== undefined && !arrived.isConfirming) || (news ?? "") !== "" || !goOn()) await show(session, news)
  })
}
const start = async ({ isConfirming, isFailed, joined, link, problem, returnTo }) => {
  methods = (await call("GET", "methods")).body
  if (!methods.available) return say(insecure)
  const wayBack = await explain(returnTo ?? (isFailed || isReloaded() ? pending() : undefined))
  const session = await currentSession()
  shown = session
  retreat = startAgain
  if (link !== undefined && (!link.isVerifying || session !== undefined)) {
    entitle("Sign in")
    at("use").textContent = link.isVerifying ? "Verify my address" : "Sign in"
    say(link.isVerifying
      ? "This link verifies that your address is yours, once."
      : "This link signs you in, once." + (session === undefined ? "" : " You are signed in as " + whoIs(session.person) + " now, which ends then."))
    only("use")
    return at("use").focus()
  }
  if (session !== undefined && session.session.sudoUntil !== null && (await goBack())) return
  if (session?.session.sudoUntil === null && isConfirming) return confirmWho(session, "Confirm that it is you")
  if (session !== undefined && link === undefined && keptPlace() !== undefined) return goOn()
  if (problem === "" && returnTo === undefined && joined === undefined && awaitsCode(session)) return offerCode()
  awaitNoCode()
  if (link !== undefined) return offer("", "Sign in first. Then open the link from the email again.")
  if (session === undefined) return offer("", wayBack !== undefined ? "Sign in to go on." : keptPlace() !== undefined ? "Sign in to go on where you were." : "")
  if (wayBack !== undefined) return confirmWho(session, "Confirm that it is you")
  const workspace = session.workspaces.find(({ id }) => id === joined)
  return show(session, workspace === undefined ? "" : "You have joined " + named(workspace.name) + " as " + workspace.role + ".", workspace)
}
whenEnded = () => offer(sessionEnded)
doing(at("use"), async () => {
  const { isVerifying, token } = arrived.link
  const { body, status } = await call("POST", isVerifying ? "email/consume" : "links/consume", {
    body: { token },
    expected: ["sign_in_failed", "other_browser", "address_in_use"]
  })
  forgetLink()
  if (status === 200) return showSession(isVerifying ? "Your address is verified." : "")
  if (!isVerifying) awaitNoCode()
  await startAgain()
  warn(body.reason !== "sign_in_failed"
    ? body.message
    : isVerifying
      ? "This link is for another account, was used, or has expired."
      : "That link was used already or has expired. Ask for another one.")
})
const usePasskey = async () => {
  const [asks, proves] = confirming === undefined ? ["passkeys/sign-in/options", "passkeys/sign-in/verify"] : ["sudo/options", "sudo"]
  const options = await call("POST", asks)
  let proof
  try {
    proof = await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options.body })
  } catch {
    return warn("Your browser used no passkey. Try again, or choose another way.")
  }
  const { status } = await call("POST", proves, {
    body: confirming === undefined ? proof : { passkey: proof },
    expected: ["sign_in_failed"]
  })
  if (status === 200) return showSession()
  warn(confirming === undefined
    ? "That passkey does not sign anybody in here. Use another one, or sign in in another way."
    : "That passkey is not one of yours here. Use another one, or another way.")
}
doing(at("passkey"), () => confirming === undefined ? usePasskey() : asShown(usePasskey)())
doing(at("ask"), async () => {
  const email = confirming?.email ?? at("email").value.trim()
  const { status } = await call("POST", "links", { body: { email }, expected: [400] })
  if (status === 400) return wrong("email", "Type your email address.")
  typed = email
  awaitCode(confirming === undefined ? "sign-in" : "confirm")
})
doing(at("verify"), acting("verify your address", "verify", async () => {
  await call("POST", "email")
  awaitCode("verify")
}))
const worn = "This code was tried ${mostTries} times and works no longer. Go back and ask for a new one."
const useCode = async (code) => {
  const { purpose, tries } = asked
  const { body, status } = await call("POST", codes[purpose].path, { body: { code }, expected: ["sign_in_failed", "address_in_use"] })
  if (status === 200) return showSession(purpose === "verify" ? "Your address is verified." : "")
  if (status === 409) return wrong("code", body.message)
  keepAsked({ tries: tries + 1 })
  wrong("code", asked.tries < ${mostTries} ? "That code is wrong or has expired." : worn)
  at("code").select()
}
doing(at("enter"), () => {
  const code = at("code").value.replace(/[\\s\\p{Pd}]/gu, "").toUpperCase()
  if (code === "") return wrong("code", "Type the code from the email first.")
  if (!/${codeForm.source}/.test(code)) return wrong("code", "That is no code: it has 8 letters and digits. Look at the email again.")
  if (asked.tries >= ${mostTries}) return wrong("code", worn)
  return asked.purpose === "sign-in" ? useCode(code) : asShown(() => useCode(code))()
})
doing(at("back"), () => {
  awaitNoCode()
  return retreat()
})
doing(at("add-passkey"), acting("add a passkey", "add-passkey", async () => {
  const options = await call("POST", "passkeys/options", { expected: ["too_many_passkeys"] })
  if (options.status === 409) return warn(options.body.message)
  let response
  try {
    response = await SimpleWebAuthnBrowser.startRegistration({ optionsJSON: options.body })
  } catch (error) {
    return warn(error.name === "InvalidStateError" ? "This device has a passkey for this service already." : "Your browser made no passkey. Try again.")
  }
  const { body, status } = await call("POST", "passkeys/verify", { body: { response }, expected: [409] })
  if (status === 409) return warn(body.message)
  tell("Passkey " + named(body.name) + " is added. You can sign in with it from now on.")
  await run(showLists)
}))
doing(at("to-account"), async () => {
  interrupted = "text"
  const session = await currentSession()
  return session === undefined ? offer(sessionEnded) : show(session)
})
const signOut = (button, text) => doingTwice(button, asShown(async () => {
  await call("DELETE", "session")
  offer("You are signed out.", text())
}), { why: () => loss })
signOut(at("sign-out"), () => "")
signOut(at("other-account"), () => pending() === undefined ? "" : "Sign in to go on.")
onEnter("email", "ask")
onEnter("code", "enter")
const begin = () => {
  const now = arrived = arrive()
  inTurn(() => {
    warn(now.problem)
    takeInterrupted()
    return start(now)
  })
}
addEventListener("hashchange", begin)
begin()
`
