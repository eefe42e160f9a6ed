import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { type Http, unique } from "../support/Http.ts"

/** What members make, each also as the caller that has it. */

export const keyOf = async (by: Http, fields: object = {}) => {
  const key = await by.post<NewApiKey>("/v1/api-keys", { name: unique("key"), ...fields }, 200)
  return { ...by.as(key.secret), ...key }
}

export const accountKeyOf = async (by: Http, fields: object = {}) => {
  const key = await by.post<NewAccountApiKey>("account-api-keys", { name: unique("ci"), role: "admin", ...fields })
  return { ...by.as(key.secret), ...key }
}

export const inviteOf = (by: Http) =>
  by.post<NewInvite>("invites", { email: `${unique("a")}@example.com`, role: "viewer" })
