/**
 * Copies text. Over plain HTTP browsers offer no clipboard, so the old command serves there; answers false when
 * neither works, and the caller then offers a field to select.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused by the browser's settings: try the other way.
  }
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const host = document.querySelector('dialog[open]') ?? document.body
  const active = document.activeElement
  host.append(area)
  area.select()
  let copied = false
  try {
    copied = document.execCommand('copy')
  } catch {
    copied = false
  }
  area.remove()
  if (active instanceof HTMLElement) active.focus()
  return copied
}
