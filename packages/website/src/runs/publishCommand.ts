import { serviceUrl } from "../api/client.ts"

/** The lines that publish a run of a product. */
export const publishCommand = (slug: string, product: string, environment = "staging"): string =>
  `export DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug} DELIVERY_API_KEY=ctk_…\nnpx @delivery/cli runs publish results.xml --product ${product} --environment ${environment}`
