/** The address of a service, as clients are told it. It imports nothing, so that pages can have it. */

/** Whether this can be one. A path may be that of a proxy, but not one of the API, which the clients know. */
export const isServiceUrl = (address: string): boolean =>
  /^https?:\/\/[^?#@]+$/i.test(address) && !/\/v1(\/|$)/.test(address) && URL.canParse(address)

/** What it should be, in a sentence. */
export const serviceUrl = "an http(s) URL such as https://delivery.example.com, without a user, a query or /v1"
