/** Gives the page the accent colour of a form, and text on it the colour with more contrast. */
export function showAccent(accent: string | null): void {
  const channels = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(accent ?? '')
  if (!accent || !channels) return
  const { style } = document.documentElement
  style.setProperty('--form-accent', accent)
  style.setProperty('--form-on-accent', textOn(channels.slice(1).map((hex) => Number.parseInt(hex, 16))))
}

/** Black or white. One of them has a contrast of at least 4.5:1 with any colour. */
export function textOn(channels: readonly number[]): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
    const part = channel / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? '#000000' : '#ffffff'
}
