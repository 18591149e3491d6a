/** The adjoint of the reference problem, written by hand. */

const DT = 0.02;
const MASS = 1.4;

/**
 * @param {number} c
 * @param {Float64Array} forces
 * @param {Float64Array} measured
 * @param {Float64Array} velocities  room for as many numbers
 * @param {Float64Array} errors  room for as many numbers
 * @returns {number}  the derivative of the sum of squared errors by c
 */
export function gradient(c, forces, measured, velocities, errors) {
  const steps = forces.length;
  let x = 0;
  let v = 0;
  for (let k = 0; k < steps; k++) {
    velocities[k] = v;
    v += (DT * (forces[k] - c * v * Math.abs(v))) / MASS;
    x += DT * v;
    errors[k] = x - measured[k];
  }
  let xBar = 0;
  let vBar = 0;
  let byC = 0;
  for (let k = steps - 1; k >= 0; k--) {
    xBar += 2 * errors[k];
    vBar += DT * xBar;
    const speed = Math.abs(velocities[k]);
    const forceBar = (vBar * DT) / MASS;
    byC -= forceBar * velocities[k] * speed;
    vBar -= forceBar * 2 * c * speed;
  }
  return byC;
}
