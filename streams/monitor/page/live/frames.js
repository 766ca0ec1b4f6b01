/** Drawing once per frame of the screen, however many events arrive. */

/**
 * Return a function that draws at the next frame. Further calls before that do nothing.
 * @param {() => void} draw
 */
export function oncePerFrame(draw) {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      draw();
    });
  };
}
