// Camera velocities of ViSP's vpServo for the states that test_visp_servo.py writes, one a line:
// LAW ("current", "desired", "mean", "pose"), gain at zero, at infinity, slope, cMo (16 numbers), cdMo (16 numbers).
// Points are the corners of a square of 0.08 m. The answer is one line of six numbers.

#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>

#include <visp3/core/vpHomogeneousMatrix.h>
#include <visp3/core/vpPoint.h>
#include <visp3/visual_features/vpFeaturePoint.h>
#include <visp3/visual_features/vpFeatureThetaU.h>
#include <visp3/visual_features/vpFeatureTranslation.h>
#include <visp3/vs/vpAdaptiveGain.h>
#include <visp3/vs/vpServo.h>

namespace {

vpHomogeneousMatrix read_pose() {
    vpHomogeneousMatrix M;
    for (unsigned int i = 0; i < 4; ++i)
        for (unsigned int j = 0; j < 4; ++j) std::cin >> M[i][j];
    return M;
}

}  // namespace

int main() {
    std::cout << std::setprecision(17);
    std::string law;
    double at_zero, at_infinity, slope;
    while (std::cin >> law >> at_zero >> at_infinity >> slope) {
        const vpHomogeneousMatrix cMo = read_pose(), cdMo = read_pose();
        vpServo task;
        task.setServo(vpServo::EYEINHAND_CAMERA);
        if (slope > 0.0)
            task.setLambda(vpAdaptiveGain(at_zero, at_infinity, slope));
        else
            task.setLambda(at_zero);
        vpFeaturePoint now[4], goal[4];
        vpFeatureTranslation t(vpFeatureTranslation::cdMc), t_goal(vpFeatureTranslation::cdMc);
        vpFeatureThetaU tu(vpFeatureThetaU::cdRc), tu_goal(vpFeatureThetaU::cdRc);
        if (law == "pose") {
            const vpHomogeneousMatrix cdMc = cdMo * cMo.inverse();
            t.buildFrom(cdMc);
            tu.buildFrom(cdMc);
            task.setInteractionMatrixType(vpServo::CURRENT, vpServo::PSEUDO_INVERSE);
            task.addFeature(t, t_goal);
            task.addFeature(tu, tu_goal);
        } else {
            const double h = 0.04, xs[4] = {-h, h, h, -h}, ys[4] = {-h, -h, h, h};
            for (int i = 0; i < 4; ++i) {
                vpPoint p(xs[i], ys[i], 0.0);
                p.track(cMo);
                now[i].buildFrom(p.get_x(), p.get_y(), p.get_Z());
                p.track(cdMo);
                goal[i].buildFrom(p.get_x(), p.get_y(), p.get_Z());
                task.addFeature(now[i], goal[i]);
            }
            task.setInteractionMatrixType(
                law == "current" ? vpServo::CURRENT : law == "desired" ? vpServo::DESIRED : vpServo::MEAN,
                vpServo::PSEUDO_INVERSE);
        }
        const vpColVector v = task.computeControlLaw();
        for (unsigned int i = 0; i < 6; ++i) std::cout << v[i] << (i < 5 ? ' ' : '\n');
        task.kill();
    }
    return 0;
}
