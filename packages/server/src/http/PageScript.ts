/** What the scripts of the service's own pages share. What others named is shown as text, never as markup. */
export const pageScript = `
const at = (id) => document.getElementById(id)
const loading = "Loading…"
at("text").textContent = loading
const { origin } = document.querySelector("main").dataset
// A key that is held down says its press once.
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter") event.preventDefault()
}, true)
// What the page is about, what has happened, and what is wrong.
const say = (message) => { at("text").textContent = message }
const tell = (news) => { at("news").textContent = news }
let repeat
const warn = (message, again, requestId) => {
  repeat = again
  at("problem").textContent = message
  at("trouble").hidden = again === undefined
  at("request-id").textContent = requestId === undefined ? "" : "Request " + requestId
}
// The keyboard begins at what is said, and presses nothing there.
const focusText = () => at("text").focus()
const named = (name) => "\\u201c" + name + "\\u201d"
const either = (words) => words.length < 3 ? words.join(" or ") : words.slice(0, -1).join(", ") + ", or " + words.at(-1)
const inWords = (seconds) => {
  const minutes = Math.ceil(seconds / 60)
  return minutes > 55 ? "an hour" : minutes === 1 ? "a minute" : minutes + " minutes"
}
const worded = (body) => body?.message === undefined ? body : {
  ...body,
  message: body.message.replace(/\\bin (\\d+) s\\.$/, (_, seconds) => "in " + inWords(Number(seconds)) + ".")
}
const insecure = "Browsers cannot sign in here: the address of this service, BASE_URL, must be https."

// An answer that a page does not expect, in the server's words.
class Refusal extends Error {
  constructor(message, { reason, requestId, status } = {}) {
    super(message)
    Object.assign(this, { reason, requestId, status })
  }
}
// The answer of the server: one that did what was asked, or one of those that are expected, by status or reason. Fails with any other.
const call = async (method, path, { body, expected = [] } = {}) => {
  const doubt = method === "GET" ? "" : " The server may have done it nevertheless."
  const answer = await fetch(path.startsWith("/") ? path : "/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  }).catch(() => { throw new Refusal("The server does not answer." + doubt) })
  const { status } = answer
  const read = status === 204 ? {} : worded(await answer.json().catch(() => undefined))
  const isExpected = answer.ok ? read !== undefined : expected.includes(status) || expected.includes(read?.reason)
  if (isExpected) return { status, body: read ?? {} }
  const message = read?.message ?? "The server gives an answer that this page does not understand (" + status + ")."
  throw new Refusal(message + (status < 500 ? "" : doubt), {
    reason: read?.reason,
    requestId: answer.headers.get("x-request-id") ?? undefined,
    status
  })
}
// What a page does where the session has ended without its doing.
let whenEnded = () => {}

const isShown = (element) => element.isConnected && element.closest("[hidden]") === null
const isBusy = (button) => button.getAttribute("aria-busy") === "true"
// A button that is busy keeps the keyboard.
const busy = (buttons, isOn) => {
  for (const button of buttons) {
    for (const name of ["aria-busy", "aria-disabled"]) isOn ? button.setAttribute(name, "true") : button.removeAttribute(name)
  }
}
const fail = async (error, again) => {
  if (at("text").textContent === loading) say("")
  if (error.status === 401) return run(whenEnded)
  if (!(error instanceof Refusal)) reportError(error)
  warn(error instanceof Refusal ? error.message : "This page has made a mistake. Load it again.", again, error.requestId)
}
// Does it, while the buttons do nothing else. Where it fails, the page says why, and offers to do it again.
const run = async (work, ...buttons) => {
  busy(buttons, true)
  try {
    await work()
  } catch (error) {
    await fail(error, () => {
      warn("")
      return run(work, ...buttons)
    })
  }
  busy(buttons, false)
  const { activeElement } = document
  if (activeElement === document.body || !isShown(activeElement)) ([at("again"), ...buttons].find(isShown) ?? at("text")).focus()
}
at("again").addEventListener("click", () => repeat())
// What was said of the action before is no longer said.
const clear = () => {
  warn("")
  tell("")
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid")
    describe(field, field.dataset.by)
  }
}
const describe = (field, ids) => ids === "" ? field.removeAttribute("aria-describedby") : field.setAttribute("aria-describedby", ids)
const wrong = (id, message) => {
  const field = at(id)
  field.dataset.by ??= field.getAttribute("aria-describedby") ?? ""
  field.setAttribute("aria-invalid", "true")
  describe(field, ("problem " + field.dataset.by).trim())
  warn(message)
  field.focus()
}
const press = (work, ...buttons) => {
  if (buttons.some(isBusy)) return
  clear()
  return run(work, ...buttons)
}
// One after the other: an address may be pasted while the page still starts.
let turn = Promise.resolve()
const inTurn = (work) => { turn = turn.then(() => press(work)) }
// The second click of a double click is none.
const doing = (button, work) => button.addEventListener("click", ({ detail }) => detail > 1 || press(work, button))
const onEnter = (field, button) => at(field).addEventListener("keydown", (event) => {
  if (event.key === "Enter") at(button).click()
})
const entitleButton = (button, text, subject) => {
  button.textContent = text
  if (subject !== undefined) button.setAttribute("aria-label", text + " " + subject)
}
// What cannot be taken back is pressed twice; with why, only where that says what is lost.
const doingTwice = (button, work, { subject, why = () => "" } = {}) => {
  const text = button.textContent
  const really = "Really " + text.toLowerCase() + "?"
  button.dataset.widest = really
  let isSure = false
  const arm = (value) => {
    isSure = value
    entitleButton(button, isSure ? really : text, subject)
  }
  button.addEventListener("blur", () => isBusy(button) || arm(false))
  button.addEventListener("click", ({ detail }) => {
    if (isBusy(button) || detail > 1) return
    const loss = isSure ? undefined : why()
    if (loss === undefined) return press(async () => {
      try {
        await work()
      } finally {
        arm(false)
      }
    }, button)
    clear()
    warn(loss)
    arm(true)
  })
}
// Whoever comes by another address of this server, such as 127.0.0.1, finds the one at which everything works.
const isHome = location.origin === origin
const pointHome = (path) => {
  at("home").href = origin + path
  at("home").textContent = origin
  at("elsewhere").hidden = isHome
}
`
