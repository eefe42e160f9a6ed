import { crc32, deflateSync } from "node:zlib"
import type { Locator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Files on tickets: pasted, dropped, chosen; shown in texts and in a list, to others at once; refused, deleted, hostile. */

interface Ticket {
  readonly identifier: string
  readonly description: string | null
}
interface Attachment {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly contentType: string
}

let site: Site

const make = (fields: object = {}) =>
  site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Pay by card", ...fields })
const filesOf = async ({ identifier }: Ticket) =>
  (await site.call<{ attachments: ReadonlyArray<Attachment> }>("GET", `tickets/${identifier}/attachments`)).attachments
const attach = ({ identifier }: Ticket, name: string, bytes: Uint8Array) =>
  site.call<Attachment>("POST", `tickets/${identifier}/attachments?name=${encodeURIComponent(name)}`, bytes)

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

/** A picture of one colour, as large as asked. */
const png = (width: number, height: number): Uint8Array => {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const rows = Buffer.alloc(height * (1 + width * 3), 0x7f)
  for (let row = 0; row < height; row++) rows[row * (1 + width * 3)] = 0
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0))
  ])
}

const openTicket = (ticket: Ticket, page?: Page) => openScreen(site, `tickets/${ticket.identifier}`, page)
const filesIn = (page: Page) => page.getByRole("region", { name: "Files" })
const isShown = (image: Locator) =>
  expect.poll(() => image.evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth)).toBe(320)

/** What a browser gives for files that are dropped or pasted. */
const transferOf = (page: Page, files: ReadonlyArray<{ name: string; type: string; bytes: Uint8Array }>) =>
  page.evaluateHandle(
    (files) => {
      const transfer = new DataTransfer()
      for (const { bytes, name, type } of files) transfer.items.add(new File([new Uint8Array(bytes)], name, { type }))
      return transfer
    },
    files.map(({ bytes, ...file }) => ({ ...file, bytes: [...bytes] }))
  )

const drop = async (target: Locator, ...files: Parameters<typeof transferOf>[1]) => {
  const dataTransfer = await transferOf(target.page(), files)
  await target.dispatchEvent("dragover", { dataTransfer })
  await target.dispatchEvent("drop", { dataTransfer })
}

describe("Files on a ticket", () => {
  it("are pasted into a comment, and seen by others without loading the page again", async () => {
    const ticket = await make()
    const other = await openTicket(ticket, await joinAs(site, "other@example.com", "Olga Other", "viewer"))
    await isLive(other)
    expect(await filesIn(other).count()).toBe(0)
    const page = await openTicket(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    await field.fill("Look: , it is broken.")
    await field.focus()
    for (let i = 0; i < ", it is broken.".length; i++) await page.keyboard.press("ArrowLeft")
    await page.evaluate(
      async (bytes) => {
        const blob = new Blob([new Uint8Array(bytes)], { type: "image/png" })
        await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })])
      },
      [...png(320, 200)]
    )
    await page.keyboard.press("Control+V")
    await expect
      .poll(() => field.inputValue())
      .toMatch(/^Look: \n!\[image\.png\]\(attachment:[0-9a-f-]{36}\)\n, it is broken\.$/)
    // The caret stands behind it.
    await page.keyboard.type("so")
    expect(await field.inputValue()).toMatch(/\)\nso, it is broken\.$/)
    await page.keyboard.press("Control+Enter")
    for (const one of [page, other]) {
      const comment = one.getByRole("listitem", { name: /^Comment of/ })
      await isShown(comment.getByRole("img", { name: "image.png" }))
      await filesIn(one).getByRole("link", { name: "image.png" }).waitFor()
    }
    expect(await axeFindings(page)).toEqual([])
    expect(await axeFindings(other)).toEqual([])
    // A viewer attaches and deletes nothing.
    expect(await other.getByRole("button", { name: /^Attach|^Delete/ }).count()).toBe(0)
  })

  it("are dropped on the description, each in its place, and stand in it once it is saved", async () => {
    const ticket = await make({ description: "Before." })
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: "Edit the description" }).click()
    const field = page.getByRole("textbox", { name: "Description" })
    await field.fill("Before.")
    await drop(
      field,
      { name: "first.png", type: "image/png", bytes: png(320, 100) },
      { name: "build.log", type: "text/plain", bytes: Buffer.from("log") },
      { name: "third.png", type: "image/png", bytes: png(320, 50) }
    )
    await expect
      .poll(() => field.inputValue())
      .toMatch(/^Before\.\n!\[first\.png\]\(\S+\)\n\[build\.log\]\(\S+\) \n!\[third\.png\]\(\S+\)\n$/)
    const section = page.getByRole("region", { name: "Description" })
    await section.getByRole("button", { name: "Preview" }).click()
    await isShown(section.getByRole("img", { name: "first.png" }))
    await page.getByRole("button", { name: "Save" }).click()
    await isShown(section.getByRole("img", { name: "first.png" }))
    await isShown(section.getByRole("img", { name: "third.png" }))
    const [, log] = await filesOf(ticket)
    expect(await section.getByRole("link", { name: "build.log" }).getAttribute("href")).toBe(
      `/v1/workspaces/main/tickets/${ticket.identifier}/attachments/${log!.id}`
    )
    const saved = page.waitForEvent("download")
    await filesIn(page).getByRole("link", { name: "build.log" }).click()
    expect((await saved).suggestedFilename()).toBe("build.log")
  })

  it("are chosen by keyboard, listed with their size, and deleted after a question", async () => {
    const ticket = await make()
    const other = await openTicket(ticket, await joinAs(site, "third@example.com", "Theo Third", "member"))
    await isLive(other)
    const page = await openTicket(ticket)
    const choosing = page.waitForEvent("filechooser")
    await pressEnter(page.getByRole("button", { name: "Attach files to the ticket" }))
    await (await choosing).setFiles([{ name: "shot.png", mimeType: "image/png", buffer: Buffer.from(png(320, 200)) }])
    const row = filesIn(page).getByRole("listitem").filter({ hasText: "shot.png" })
    await row.getByText(/\d\s(?:B|KB) · .* · now/).waitFor()
    const [file] = await filesOf(ticket)
    await site.call("POST", `tickets/${ticket.identifier}/comments`, { body: `![What I saw](attachment:${file!.id})` })
    await isShown(page.getByRole("img", { name: "What I saw" }))
    await isShown(other.getByRole("img", { name: "What I saw" }))
    // Who is neither the one who attached it nor the creator of the ticket cannot delete it.
    await filesIn(other).getByText("shot.png").waitFor()
    expect(await filesIn(other).getByRole("button", { name: "Delete shot.png" }).count()).toBe(0)
    await pressEnter(row.getByRole("button", { name: "Delete shot.png" }))
    await page.getByRole("dialog", { name: "Delete the file?" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(page.getByRole("dialog").getByRole("button", { name: "Delete" }))
    for (const one of [page, other]) {
      await expect.poll(() => one.getByRole("img", { name: "What I saw" }).count()).toBe(0)
      // Its name stays in the text.
      await one.getByText("What I saw").waitFor()
      await filesIn(one).getByText("None. Drop files here").waitFor()
    }
    expect(await filesOf(ticket)).toEqual([])
  })

  it("are refused in plain words where they are too large, or nothing answers, and the text stays", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    await field.fill("Look: ")
    const choose = async (name: string, buffer: Buffer) => {
      const choosing = page.waitForEvent("filechooser")
      await page.getByRole("button", { name: "Attach files to the new comment" }).click()
      await (await choosing).setFiles([{ name, mimeType: "video/mp4", buffer }])
    }
    await choose("long.mp4", Buffer.alloc(26_214_401))
    const refused = page.getByRole("alert").filter({ hasText: "long.mp4 could not be attached" })
    await refused.getByText("It has 25 MB. A file can have 25 MB at most.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole("button", { name: "Dismiss long.mp4" }).click()
    await expect.poll(() => refused.count()).toBe(0)
    await page.route("**/attachments?name=*", (route) => route.abort())
    await choose("cut.mp4", Buffer.alloc(10))
    await page.getByRole("alert").getByText("It could not be read, or the server does not answer. Try again.").waitFor()
    await page.unroute("**/attachments?name=*")
    await page.context().setOffline(true)
    await choose("offline.mp4", Buffer.alloc(10))
    await page.getByRole("alert").getByText("You are offline. Try again when you are back.").waitFor()
    await page.context().setOffline(false)
    expect(await field.inputValue()).toBe("Look: ")
    expect(await filesOf(ticket)).toEqual([])
  })

  it("show how far they are, and are broken off", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    await field.fill("Typed before.")
    const held: Array<() => void> = []
    await page.route("**/attachments?name=*", (route) => held.push(() => void route.continue()))
    await drop(field, { name: "slow.png", type: "image/png", bytes: png(320, 200) })
    await page.getByRole("progressbar", { name: "Upload of slow.png" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await expect.poll(() => held.length).toBe(1)
    await page.getByRole("button", { name: "Cancel slow.png" }).click()
    await expect.poll(() => page.getByRole("progressbar").count()).toBe(0)
    await page.unroute("**/attachments?name=*")
    // The next one is not held up by it.
    await drop(field, { name: "next.png", type: "image/png", bytes: png(320, 200) })
    await expect.poll(() => field.inputValue()).toMatch(/^Typed before\.\n!\[next\.png\]\(\S+\)\n$/)
    expect((await filesOf(ticket)).map(({ name }) => name)).toEqual(["next.png"])
  })

  it("act for nobody, whatever they are named and whatever they hold", async () => {
    const ticket = await make()
    const beside = await make()
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "ran"</script></svg>'
    const page = await openTicket(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    const names = ['<img src=x onerror="document.title=1">.png', "](https://evil.example) ![x](y).png", "gnp.\u202Eexe"]
    for (const name of names) {
      const before = await field.inputValue()
      await drop(field, { name, type: "image/png", bytes: png(320, 20) })
      await expect.poll(() => field.inputValue()).not.toBe(before)
    }
    const before = await field.inputValue()
    await drop(field, { name: "drawing.svg", type: "image/svg+xml", bytes: Buffer.from(svg) })
    await expect.poll(() => field.inputValue()).not.toBe(before)
    await field.press("Control+Enter")
    const comment = page.getByRole("listitem", { name: /^Comment of/ })
    await expect.poll(() => comment.getByRole("img").count()).toBe(3)
    for (const image of await comment.getByRole("img").all()) await isShown(image)
    await comment.getByRole("img", { name: "gnp.\\u{202E}exe" }).waitFor()
    await filesIn(page).getByRole("link", { name: names[0]! }).waitFor()
    const svgFile = (await filesOf(ticket)).find(({ name }) => name === "drawing.svg")!
    const foreign = await attach(beside, "foreign.png", png(320, 20))
    const body = [
      `![a drawing](attachment:${svgFile.id})`,
      `![of another ticket](attachment:${foreign.id})`,
      "![from elsewhere](https://evil.example/x.png)",
      `![not an id](attachment:../../../secrets)`
    ].join("\n\n")
    await site.call("POST", `tickets/${ticket.identifier}/comments`, { body })
    const second = page.getByRole("listitem", { name: /^Comment of/ }).nth(1)
    await second.getByRole("link", { name: "a drawing" }).waitFor()
    await second.getByRole("link", { name: "from elsewhere" }).waitFor()
    await second.getByText("of another ticket").waitFor()
    expect(await second.getByRole("link").count()).toBe(2)
    expect(await second.getByRole("img").count()).toBe(0)
    // Opened, it is saved and does not run.
    const saved = page.waitForEvent("download")
    await second.getByRole("link", { name: "a drawing" }).click()
    expect((await saved).suggestedFilename()).toBe("drawing.svg")
    expect(await page.title()).not.toMatch(/^(?:1|ran)$/)
  })
})
