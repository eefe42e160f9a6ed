import type { Attachment } from "@delivery/domain/planning/Attachment"
import { maxAttachmentBytes } from "@delivery/domain/planning/AttachmentLimits"
import type { Event } from "@delivery/domain/events/Event"
import type { Team } from "@delivery/domain/planning/Team"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { hash } from "node:crypto"
import { once } from "node:events"
import { assert } from "vitest"
import {
  answerOf,
  assertId,
  assertTimestamp,
  eventually,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  teamKey,
  unique
} from "../support/Http.ts"

/** Files on tickets over HTTP (docs/contract.md, Attachments). */

const newTicket = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const team = await workspace.post<Team>("teams", { key: teamKey(), name: unique("Team") })
  const member = await join(workspace, "member")
  const { identifier } = await member.post<Ticket>("tickets", { team: team.key, title: "Ticket" })
  return { workspace, member, path: `tickets/${identifier}/attachments` }
}

const send = (
  by: Http,
  path: string,
  name: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {}
) => by.send<Attachment>("POST", `${path}?name=${encodeURIComponent(name)}`, { body, headers })

const attach = async (...args: Parameters<typeof send>): Promise<Attachment> => {
  const { body, status, text } = await send(...args)
  assert.strictEqual(status, 201, text)
  return body
}

const list = async (by: Http, path: string) =>
  (await by.get<{ attachments: ReadonlyArray<Attachment> }>(path)).attachments

onEachServer("attachments", (test) => {
  test("are answered with 201, listed, and read back as they were sent", async (owner) => {
    const { member, path, workspace } = await newTicket(owner)
    const viewer = await join(workspace, "viewer")
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const { body, headers, status } = await send(member, path, "a b.png", bytes, { "content-type": "image/png" })
    assert.strictEqual(status, 201)
    assertId(body.id)
    assertTimestamp(body.createdAt)
    const sha256 = hash("sha256", bytes)
    assert.deepInclude(body, { name: "a b.png", size: 256, contentType: "image/png", sha256 })
    assert.strictEqual(headers.etag, `"${sha256}"`)
    assert.deepStrictEqual(await list(viewer, path), [body])
    const read = await viewer.send("GET", `${path}/${body.id}`)
    assert.isTrue(bytes.equals(read.bytes))
    assert.deepInclude(read.headers, {
      "content-type": "image/png",
      "content-length": "256",
      "content-disposition": "inline; filename=\"a b.png\"; filename*=UTF-8''a%20b.png",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
      "accept-ranges": "bytes",
      etag: `"${sha256}"`
    })
    const head = await viewer.send("HEAD", `${path}/${body.id}`)
    assert.deepStrictEqual([head.status, head.headers["content-length"], head.bytes.length], [200, "256", 0])
    const part = await viewer.send("GET", `${path}/${body.id}`, { headers: { range: "bytes=250-" } })
    assert.deepStrictEqual([part.status, [...part.bytes]], [206, [250, 251, 252, 253, 254, 255]])
    const known = await viewer.send("GET", `${path}/${body.id}`, { headers: { "if-none-match": `"${sha256}"` } })
    assert.strictEqual(known.status, 304)
    await member.delete(`${path}/${body.id}`)
    assert.deepStrictEqual(await list(viewer, path), [])
    assert.strictEqual(refusal(await viewer.send("GET", `${path}/${body.id}`)), "404 attachment")
    const { events } = await viewer.get<{ events: ReadonlyArray<Event> }>("events")
    assert.deepStrictEqual(
      events.slice(0, 2).map(({ changes, kind, subject }) => [kind, subject.type, changes]),
      [
        ["attachment_deleted", "ticket", [{ field: "attachment", from: "a b.png", to: null }]],
        ["attachment_added", "ticket", [{ field: "attachment", from: null, to: "a b.png" }]]
      ]
    )
  })

  test("are shown by a browser where they are images or video, and saved else, whatever they claim to be", async (owner) => {
    const { member, path } = await newTicket(owner)
    const types: ReadonlyArray<readonly [string, "inline" | "attachment"]> = [
      ["image/png", "inline"],
      ["image/jpeg", "inline"],
      ["image/gif", "inline"],
      ["image/webp", "inline"],
      ["image/avif", "inline"],
      ["video/mp4", "inline"],
      ["video/webm;codecs=vp9", "inline"],
      ["image/svg+xml", "attachment"],
      ["text/html", "attachment"],
      ["application/xhtml+xml", "attachment"],
      ["application/pdf", "attachment"],
      ["text/plain", "attachment"],
      ["image/png, text/html", "attachment"],
      ["image/pngx", "attachment"],
      ["multipart/x-mixed-replace;boundary=x", "attachment"]
    ]
    for (const [contentType, expected] of types) {
      const { id } = await attach(member, path, "f", "<script>alert(1)</script>", { "content-type": contentType })
      const { headers } = await member.send("GET", `${path}/${id}`, { headers: { "accept-encoding": "br, gzip" } })
      assert.strictEqual(headers["content-disposition"]?.split(";")[0], expected, contentType)
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
      assert.strictEqual(headers["content-security-policy"], "sandbox; default-src 'none'")
      assert.isUndefined(headers["content-encoding"])
    }
  })

  test("have names that nothing in a header is ended or redirected by", async (owner) => {
    const { member, path } = await newTicket(owner)
    const names: ReadonlyArray<readonly [string, string]> = [
      ['"; filename="x.exe', "attachment; filename=\"_; filename=_x.exe\"; filename*=UTF-8''_%3B%20filename%3D_x.exe"],
      ["../../etc/passwd", "attachment; filename=\".._.._etc_passwd\"; filename*=UTF-8''.._.._etc_passwd"],
      ["a\\b'(c)*.txt", "attachment; filename=\"a_b'(c)_.txt\"; filename*=UTF-8''a_b%27%28c%29_.txt"],
      [
        "Übersicht 🎉.txt",
        "attachment; filename=\"_bersicht __.txt\"; filename*=UTF-8''%C3%9Cbersicht%20%F0%9F%8E%89.txt"
      ],
      ["exe.\u202Egnp", "attachment; filename=\"exe._u{202E}gnp\"; filename*=UTF-8''exe._u%7B202E%7Dgnp"],
      [
        "<img src=x onerror=alert(1)>",
        "attachment; filename=\"_img src=x onerror=alert(1)_\"; filename*=UTF-8''_img%20src%3Dx%20onerror%3Dalert%281%29_"
      ]
    ]
    for (const [name, expected] of names) {
      const { id, name: kept } = await attach(member, path, name, "x")
      assert.strictEqual(kept, name)
      const { headers } = await member.send("GET", `${path}/${id}`)
      assert.strictEqual(headers["content-disposition"], expected)
    }
    assert.strictEqual((await attach(member, path, "n".repeat(255), "x")).name.length, 255)
    assert.strictEqual((await attach(member, path, "🎉".repeat(255), "x")).name.length, 510)
    for (const name of ["", " ", "n".repeat(256), "a\nb", "a\u0000b", "a\u2028b"]) {
      assert.strictEqual((await send(member, path, name, "x")).status, 400, JSON.stringify(name))
    }
    assert.strictEqual((await member.send("POST", path, { body: "x" })).status, 400)
  })

  test("are refused at one byte more than 25 MiB, before the body is sent", async (owner) => {
    const { member, path } = await newTicket(owner)
    const asked = member.open("POST", `${path}?name=a`, { "content-length": String(maxAttachmentBytes + 1) })
    const answer = answerOf(asked)
    asked.flushHeaders()
    const { body, status } = await answer
    asked.destroy()
    assert.strictEqual(status, 400)
    assert.deepInclude(body, { _tag: "InvalidInput" })
    const { size } = await attach(member, path, "largest", Buffer.alloc(maxAttachmentBytes))
    assert.strictEqual(size, maxAttachmentBytes)
    const [{ id }] = (await list(member, path)) as [Attachment]
    assert.strictEqual((await member.send("GET", `${path}/${id}`)).bytes.length, maxAttachmentBytes)
  })

  test("are absent if their upload is broken off", async (owner) => {
    const { member, path } = await newTicket(owner)
    const upload = member.open("POST", `${path}?name=a`, { "content-length": "1000", expect: "100-continue" })
    const answer = answerOf(upload)
    upload.flushHeaders()
    await once(upload, "continue")
    upload.write("only a part")
    upload.destroy()
    await answer.catch(() => undefined)
    const { id } = await attach(member, path, "b", "whole")
    await eventually(
      () => list(member, path),
      (all) => all.length === 1 && all[0]!.id === id
    )
  })
})
