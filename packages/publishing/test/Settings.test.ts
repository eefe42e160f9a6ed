import { checkOptions, isRequired, readSettings } from "@delivery/publishing"
import { assert, it } from "vitest"

const complete = { url: "https://delivery.example.com", apiKey: "ctk_x", workspace: "main", product: "shop" }

it("an option that no reporter has is refused, with the one that may be meant", () => {
  assert.throws(
    () => checkOptions({ ...complete, enviroment: "staging" }),
    /^Delivery: The reporter knows no option "enviroment"\. Did you mean environment\? It takes url, apiKey, /
  )
  assert.throws(() => checkOptions({ baseURL: "https://shop.example.com" }), /Did you mean baseUrl\?/)
  assert.throws(() => checkOptions({ token: "" }), /knows no option "token"/)
  assert.doesNotThrow(() => checkOptions({ ...complete, required: true, cleanup: undefined }))
})

it("an option of another kind is refused, and what it may be is said", () => {
  const refused = (options: object, expected: string) =>
    assert.throws(() => checkOptions({ ...complete, ...options }), `must be ${expected}.`)
  refused({ product: 42 }, "a string")
  refused({ url: null }, "a string")
  refused({ folders: "checkout" }, "an array of strings")
  refused({ caseIds: ["pay", 7] }, "an array of strings")
  refused({ git: "main" }, "an object")
  refused({ cleanup: true }, "a function, or the path of a module")
  refused({ required: "yes" }, "true or false")
  assert.doesNotThrow(() =>
    checkOptions({
      ...complete,
      folders: [],
      caseIds: ["pay"],
      git: { branch: "main" },
      cleanup: () => {},
      required: false
    })
  )
})

it("whether publishing is required is said by the usual words, and refused by others", () => {
  const said = (word: string) => isRequired({}, { DELIVERY_REQUIRED: word })
  for (const word of ["1", "true", "TRUE", " yes ", "On"]) assert.isTrue(said(word), word)
  for (const word of ["", " ", "0", "false", "No", "off"]) assert.isFalse(said(word), word)
  assert.isFalse(isRequired({}, {}))
  assert.isFalse(isRequired({ required: false }, { DELIVERY_REQUIRED: "maybe" }))
  for (const word of ["maybe", "constructor"]) {
    assert.throws(
      () => said(word),
      `Delivery: DELIVERY_REQUIRED is "${word}". Expected one of 0, 1, true, yes, on, false, no, off.`
    )
  }
})

it("settings that are wrong leave what results can be kept with, and those that are missing leave nothing", () => {
  const all = { ...complete, environment: "staging" }
  assert.notProperty(readSettings(all, {}), "problem")
  const { workspace: _, ...withoutWorkspace } = all
  assert.deepInclude(readSettings(withoutWorkspace, {}), { workspace: "main" })
  assert.deepInclude(readSettings(withoutWorkspace, { DELIVERY_WORKSPACE: "team" }), { workspace: "team" })
  const wrong = readSettings({ ...all, url: "https://delivery.example.com/v1", baseUrl: "shop.example.com" }, {})
  assert.deepInclude(wrong, {
    problem:
      "url is not an http(s) URL such as https://delivery.example.com, without a user, a query or /v1; baseUrl is not an http(s) URL"
  })
  assert.deepInclude("rest" in wrong ? wrong.rest : {}, { product: "shop", environment: "staging", baseUrl: undefined })
  assert.deepStrictEqual(readSettings(complete, {}), {
    problem: "settings are missing: environment (or DELIVERY_ENVIRONMENT)",
    rest: undefined
  })
})
