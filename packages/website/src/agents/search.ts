import { type Address, oneAt, withoutUndefined } from "../ui/address.ts"

/** What stands in the address of the inbox: the unread notifications unless it says all. */
export interface InboxSearch {
  readonly view?: "all"
}

export const readInboxSearch = (address: Address): InboxSearch =>
  withoutUndefined({ view: oneAt(address, "view", ["all"] as const) })
