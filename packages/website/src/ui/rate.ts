/** A rate from 0 to 1 in percent, never rounded up to what it is not: `99.9 %`. */
export const formatRate = (rate: number): string => {
  const tenths = Math.floor(rate * 1_000 + 1e-9) / 10
  return `${Number.isInteger(tenths) ? tenths : tenths.toFixed(1)}\u00a0%`
}
