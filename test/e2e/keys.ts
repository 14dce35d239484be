/** A person without a pointer. */
import type { Locator, Page } from 'playwright-core'

/** More presses than any page has stops: a control that is not reached by then is not reachable. */
const TABS_MAX = 80

export const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element === document.activeElement)

/** Presses Tab until the control has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let press = 0; press < TABS_MAX; press++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`not reached by Tab: ${target.toString()}`)
}
