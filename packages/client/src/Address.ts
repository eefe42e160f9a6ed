/** Whether this can be the address of a service. A path may be that of a proxy, but not one of the API, which the clients know. */
export const isServiceUrl = (address: string): boolean =>
  /^https?:\/\/[^?#]+$/i.test(address) && !/\/v1(\/|$)/.test(address) && URL.canParse(address)

/** What an address should be, after "Expected". */
export const serviceUrl = "an absolute http(s) URL, without /v1 and a query"
