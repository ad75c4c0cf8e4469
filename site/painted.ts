/** When the page has been painted next: what it need not show yet waits for this. A page in the background is not painted, and waits a moment. */
export const painted = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, 500)
  })
